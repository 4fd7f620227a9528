// The types of three are a package of their own; TSL's nodes are proxies, which they say little about.
declare module 'three/webgpu'
declare module 'three/tsl'

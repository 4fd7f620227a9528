// The types of three are a separate package, which says little about TSL's nodes, because these are proxies.
declare module 'three/webgpu'
declare module 'three/tsl'

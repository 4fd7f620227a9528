// Stands in for napi_create_external_arraybuffer of a runtime that allows no external buffers (Electron). Nothing is declared by Node's
// headers, so that the compiler needs none; 22 is napi_no_external_buffers_allowed. The name is as long as the one it replaces.
int test_create_external_arraybuffer(void) { return 22; }

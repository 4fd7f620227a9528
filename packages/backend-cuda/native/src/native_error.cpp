#include "native_error.h"

#include <new>

namespace tandem {

NativeError currentError() {
  try {
    throw;
  } catch (const NativeError &error) {
    return error;
  } catch (const std::bad_alloc &) {
    return {"out-of-memory", "The host has no memory left."};
  } catch (const std::exception &error) {
    return {"driver", error.what()};
  } catch (...) {
    return {"driver", "An unknown native error occurs."};
  }
}

} // namespace tandem

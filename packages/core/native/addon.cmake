# A native addon over native/src of a package and this folder, by cmake-js with node-api-headers: no Node headers, no toolkit and no network are needed.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_package(Threads REQUIRED)
file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/native/src/*.cpp)
add_library(${PROJECT_NAME} SHARED ${SOURCES} ${CMAKE_JS_SRC})
set_target_properties(${PROJECT_NAME} PROPERTIES PREFIX "" SUFFIX ".node" CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON)
# All sources are one translation unit: most of the compiler's work is in the headers that they share. So files of one addon may not give
# one name to two things, in anonymous namespaces neither.
set_target_properties(${PROJECT_NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
execute_process(COMMAND node -p "require('node-addon-api').include_dir" WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                OUTPUT_VARIABLE NODE_ADDON_API_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(NODE_ADDON_API_DIR "${NODE_ADDON_API_DIR}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(${PROJECT_NAME} PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_include_directories(${PROJECT_NAME} SYSTEM PRIVATE ${CMAKE_JS_INC} ${NODE_ADDON_API_DIR})
# Every exception that a callback throws becomes a JavaScript exception: none crosses the C boundary. A worker thread that is being terminated
# takes no JavaScript exception any more: there the exception is dropped, where node-addon-api would end the process.
target_compile_definitions(${PROJECT_NAME} PRIVATE NAPI_VERSION=9 NODE_ADDON_API_CPP_EXCEPTIONS_ALL
                           NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS)
target_compile_options(${PROJECT_NAME} PRIVATE -Wall -Wextra)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # The machine's libstdc++ may be older than the compiler's, so ours is inside, and only Node's entry points are visible. What is not used
  # of it is left out: std::random_device alone needs glibc 2.36. libgcc_s stays outside: its static unwinder needs glibc 2.35.
  target_compile_options(${PROJECT_NAME} PRIVATE -ffunction-sections -fdata-sections)
  # Node unloads an addon when its last environment ends, while native threads of the addon may still run: the code stays in memory.
  target_link_options(${PROJECT_NAME} PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,-z,nodelete
                      -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/addon.version-script)
endif()
target_link_libraries(${PROJECT_NAME} PRIVATE ${CMAKE_JS_LIB} ${CMAKE_DL_LIBS} Threads::Threads)
target_link_options(${PROJECT_NAME} PRIVATE -s)

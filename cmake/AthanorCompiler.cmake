# Warnings are errors in our own code; sanitizers come from ATHANOR_SANITIZE; ccache is used where it is installed.
add_library(athanor_options INTERFACE)
target_compile_features(athanor_options INTERFACE cxx_std_20)
target_compile_options(athanor_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow=local -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wimplicit-fallthrough -fno-omit-frame-pointer)
if(ATHANOR_SANITIZE)
  add_compile_options(-fsanitize=${ATHANOR_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ATHANOR_SANITIZE})
  # GCC 12 reports false positives of these when sanitizers rewrite the code.
  target_compile_options(athanor_options INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

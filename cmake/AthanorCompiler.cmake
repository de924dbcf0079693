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
  # ccache uses precompiled headers only when told that nothing in them hangs on the time or on what is defined before.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
# Line numbers in stack traces, without the description of types that a third of the compile time goes into.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g1")

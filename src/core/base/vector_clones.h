// ATHANOR_VECTOR_CLONES before a function: the compiler makes it once for each width of vector unit, and the loader picks the one
// the processor has. For plain loops over arrays in sources named *_loops.cpp, which the build compiles for it.
#pragma once

// Sanitizers instrument the loader's choice before their own start-up has run, so they get the plain function.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ATHANOR_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ATHANOR_VECTOR_CLONES
#endif

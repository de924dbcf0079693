// What this build is.
#pragma once

namespace athanor::command {

#ifndef ATHANOR_VERSION
#define ATHANOR_VERSION "0.1.0"
#endif

inline constexpr const char* kVersion = ATHANOR_VERSION;
#ifdef NDEBUG
inline constexpr const char* kBuild = "release build, GCC " __VERSION__;
#else
inline constexpr const char* kBuild = "debug build, GCC " __VERSION__;
#endif

}  // namespace athanor::command

# libtorch out of a PyTorch wheel, without Python: libtorch_cpu and libc10 as imported targets (see docs/development/build.md).
# The wheel's own CMake package wants CUDA, so it is not used.
set(torch_dir ${ATHANOR_TORCH_ROOT}/torch)
if(NOT EXISTS ${torch_dir}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "libtorch was not found at ${torch_dir}. Run scripts/install-libtorch, or set ATHANOR_TORCH_ROOT to a "
                      "folder that holds torch/ (for an installed PyTorch: python3 -c 'import torch,os;print(os.path.dirname(os.path.dirname(torch.__file__)))').")
endif()
file(STRINGS ${torch_dir}/version.py torch_version_line REGEX "__version__ = ")
string(REGEX REPLACE ".*'([^']+)'.*" "\\1" ATHANOR_TORCH_VERSION "${torch_version_line}")

add_library(athanor_c10 SHARED IMPORTED)
set_target_properties(athanor_c10 PROPERTIES IMPORTED_LOCATION ${torch_dir}/lib/libc10.so)
add_library(athanor_torch_cpu SHARED IMPORTED)
set_target_properties(athanor_torch_cpu PROPERTIES IMPORTED_LOCATION ${torch_dir}/lib/libtorch_cpu.so)

add_library(athanor_torch INTERFACE)
target_include_directories(athanor_torch SYSTEM INTERFACE ${torch_dir}/include)
# The wheel brings headers of its own fmt, newer than the installed library, and they come first: use them header-only.
target_compile_definitions(athanor_torch INTERFACE FMT_HEADER_ONLY USE_DISTRIBUTED USE_C10D_GLOO AT_PER_OPERATOR_HEADERS
                           ATHANOR_TORCH_VERSION="${ATHANOR_TORCH_VERSION}")
target_link_libraries(athanor_torch INTERFACE athanor_torch_cpu athanor_c10 Threads::Threads)
# at::parallel_for is serial unless OpenMP is on where it is compiled. The OpenMP runtime must be the one libtorch uses, or there
# would be two pools of threads.
file(GLOB torch_openmp ${torch_dir}/lib/libgomp*.so*)
if(torch_openmp)
  list(GET torch_openmp 0 torch_openmp)
  target_compile_options(athanor_torch INTERFACE -fopenmp)
  target_link_libraries(athanor_torch INTERFACE ${torch_openmp})
endif()
set(torch_rpath ${torch_dir}/lib)
foreach(folder nvidia/cu13/lib nvidia/cuda_runtime/lib nvidia/cuda_cupti/lib)
  if(EXISTS ${ATHANOR_TORCH_ROOT}/${folder})
    list(APPEND torch_rpath ${ATHANOR_TORCH_ROOT}/${folder})
  endif()
endforeach()
list(JOIN torch_rpath ":" torch_rpath)
target_link_options(athanor_torch INTERFACE -Wl,-rpath,${torch_rpath} -Wl,-rpath-link,${torch_rpath}
                    -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags)

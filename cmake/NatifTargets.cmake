# The functions that the folders' CMakeLists use: natif_library() for a folder of sources, natif_tests() and natif_benchmarks() for the
# programs beside them. Each folder FOLDER is the target natif_FOLDER, alias natif::FOLDER, and its headers are included as "FOLDER/x.h".

# Warnings and sanitizers, linked privately by every target of ours and by nothing else. A field that a designated initialiser leaves out
# is meant to take its default.
add_library(natif_options INTERFACE)
target_compile_options(natif_options INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers $<$<BOOL:${NATIF_WERROR}>:-Werror>)
if(NATIF_SANITIZE)
  target_compile_options(natif_options INTERFACE -fsanitize=${NATIF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(natif_options INTERFACE -fsanitize=${NATIF_SANITIZE})
endif()

# Building this target builds all test programs and, through them, only what they need.
add_custom_target(natif_tests)
add_custom_target(natif_benchmarks)

# natif_sources(VARIABLE): the current folder's sources, without the test and benchmark programs.
function(natif_sources variable)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# natif_include_root(VARIABLE FOLDER): the include root that holds the current folder, as FOLDER, and nothing else.
function(natif_include_root variable folder)
  set(root "${PROJECT_BINARY_DIR}/include/${folder}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${folder}" SYMBOLIC)
  set(${variable} "${root}" PARENT_SCOPE)
endfunction()

# natif_library(FOLDER [HEADERS_ONLY] [LINKS target…] [EXTRA source…]): the current folder as natif::FOLDER. What it LINKS is all that
# its sources and headers can include.
function(natif_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HEADERS_ONLY" "" "LINKS;EXTRA")
  if(NOT arg_HEADERS_ONLY)
    natif_sources(sources)
  endif()
  natif_include_root(root ${folder})
  if(sources OR arg_EXTRA)
    set(scope PUBLIC)
    add_library(natif_${folder} STATIC ${sources} ${arg_EXTRA})
    target_link_libraries(natif_${folder} PRIVATE natif_options)
  else()
    set(scope INTERFACE)
    add_library(natif_${folder} INTERFACE)
  endif()
  add_library(natif::${folder} ALIAS natif_${folder})
  target_include_directories(natif_${folder} ${scope} "${root}")
  target_link_libraries(natif_${folder} ${scope} ${arg_LINKS})
  if(NOT arg_HEADERS_ONLY)
    natif_check_headers(${folder})
  endif()
endfunction()

# natif_check_headers(FOLDER [target…]): with the tests (once, not again under sanitizers), compiles each header of the folder alone, against
# what natif::FOLDER and the targets give; bench_*.h, which need Google Benchmark, with the benchmarks. natif_library() does it for folders
# with sources.
function(natif_check_headers folder)
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  if(NOT NATIF_BENCH)
    list(FILTER headers EXCLUDE REGEX "/bench_[^/]*\\.h$")
  endif()
  if(NOT NATIF_TESTS OR NATIF_SANITIZE OR NOT headers)
    return()
  endif()
  set(units)
  foreach(header IN LISTS headers)
    cmake_path(GET header STEM name)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/alone/${name}.cpp")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${folder}/${name}.h\"\n#include \"${folder}/${name}.h\"\n")
    list(APPEND units "${unit}")
  endforeach()
  add_library(natif_${folder}_headers OBJECT ${units})
  target_compile_options(natif_${folder}_headers PRIVATE -O0 -g0)
  target_link_libraries(natif_${folder}_headers PRIVATE natif::${folder} ${ARGN} natif_options)
  add_dependencies(natif_tests natif_${folder}_headers)
endfunction()

# natif_tests([LINKS target…]): each *_test.cpp of the current folder as a GoogleTest program and a ctest of the name folder/file.
function(natif_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LINKS")
  if(NOT NATIF_TESTS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(${folder}_${name} "${source}")
    target_link_libraries(${folder}_${name} PRIVATE ${arg_LINKS} natif_options GTest::gtest_main)
    add_test(NAME ${folder}/${name} COMMAND ${folder}_${name})
    add_dependencies(natif_tests ${folder}_${name})
  endforeach()
endfunction()

# natif_benchmarks([LINKS target…]): each *_bench.cpp of the current folder as a Google Benchmark program.
function(natif_benchmarks)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LINKS")
  if(NOT NATIF_BENCH)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_bench.cpp")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(${folder}_${name} "${source}")
    target_link_libraries(${folder}_${name} PRIVATE ${arg_LINKS} natif_options benchmark::benchmark_main)
    add_dependencies(natif_benchmarks ${folder}_${name})
  endforeach()
endfunction()

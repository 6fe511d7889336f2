#[=======================================================================[
Build the rewritten forms of a target's Fortran sources.

  list(APPEND CMAKE_MODULE_PATH <what `fortrans cmake-dir` prints>)
  include(Fortrans)
  fortrans_rewrite(TARGET <target> [CONTEXT <file or folder>...] [OPTIONS <option>...])

Each free-form source of the target (*.f90, *.f95, *.f03, *.f08, also in upper case) is replaced by
its rewritten form below <binary dir>/fortrans/<target>, made when it or a module it uses has changed.
Compilers' messages and debuggers name the originals.  Modules are looked for in the folders of the
target's sources, in those of the targets it links to, and in CONTEXT.  OPTIONS are options of
`fortrans rewrite`, as --all.  To be called after the target has its sources and libraries, in the
directory that made it.
#]=======================================================================]
cmake_minimum_required(VERSION 3.20)
include_guard(GLOBAL)

find_program(FORTRANS_EXECUTABLE fortrans REQUIRED DOC "The fortrans command")

# Where the sources of a target, and of the targets of this project that it links to, are.
function(_fortrans_folders target seen_var folders_var)
  set(seen ${${seen_var}})
  set(folders ${${folders_var}})
  get_target_property(real ${target} ALIASED_TARGET)
  if(real)
    set(target ${real})
  endif()
  get_target_property(imported ${target} IMPORTED)
  if(NOT imported AND NOT target IN_LIST seen)
    list(APPEND seen ${target})
    get_target_property(sources ${target} FORTRANS_SOURCES)
    if(NOT sources)
      get_target_property(sources ${target} SOURCES)
    endif()
    get_target_property(base ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      if(source MATCHES "\\.[fF](90|95|03|08)$" AND NOT source MATCHES "\\$<")
        get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${base}")
        get_filename_component(folder "${path}" DIRECTORY)
        list(APPEND folders "${folder}")
      endif()
    endforeach()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      foreach(library IN LISTS libraries)
        if(TARGET "${library}")
          _fortrans_folders(${library} seen folders)
        endif()
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES folders)
  endif()
  set(${seen_var} ${seen} PARENT_SCOPE)
  set(${folders_var} ${folders} PARENT_SCOPE)
endfunction()

function(fortrans_rewrite)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "CONTEXT;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fortrans_rewrite does not know '${arg_UNPARSED_ARGUMENTS}'")
  elseif(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "fortrans_rewrite needs TARGET with the name of a target")
  endif()
  set(target ${arg_TARGET})
  get_target_property(done ${target} FORTRANS_SOURCES)
  if(done)
    return()
  endif()
  get_target_property(base ${target} SOURCE_DIR)
  if(NOT base STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "fortrans_rewrite must be called where target '${target}' is made, in ${base}")
  endif()

  set(seen "")
  set(folders "")
  _fortrans_folders(${target} seen folders)
  foreach(path IN LISTS arg_CONTEXT)
    get_filename_component(path "${path}" ABSOLUTE)
    list(APPEND folders "${path}")
  endforeach()
  list(TRANSFORM folders PREPEND "-I" OUTPUT_VARIABLE context)

  get_target_property(sources ${target} SOURCES)
  set(now "")
  set(beside "")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.[fF](90|95|03|08)$" OR source MATCHES "\\$<")
      list(APPEND now "${source}")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(folder "${path}" DIRECTORY)
    get_filename_component(name "${path}" NAME)
    # Sources outside the directory, as generated ones, go by the hash of where they are.
    file(RELATIVE_PATH inner "${base}" "${folder}")
    if(inner MATCHES "^\\.\\." OR IS_ABSOLUTE "${inner}")
      string(MD5 inner "${folder}")
    endif()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/fortrans/${target}/${inner}/${name}")
    string(REPLACE "//" "/" output "${output}")
    get_filename_component(place "${output}" DIRECTORY)
    file(MAKE_DIRECTORY "${place}")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${FORTRANS_EXECUTABLE}" rewrite --quiet --line-markers ${arg_OPTIONS} ${context}
              --depfile "${output}.d" -o "${output}" "${path}"
      DEPENDS "${path}"
      DEPFILE "${output}.d"
      COMMENT "Rewriting ${name}"
      VERBATIM)
    foreach(property COMPILE_DEFINITIONS COMPILE_FLAGS COMPILE_OPTIONS INCLUDE_DIRECTORIES
                     Fortran_FORMAT Fortran_PREPROCESS OBJECT_DEPENDS)
      get_source_file_property(value "${path}" ${property})
      if(value)
        set_source_files_properties("${output}" PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    list(APPEND now "${output}")
    list(APPEND beside "${folder}")
  endforeach()
  list(REMOVE_DUPLICATES beside)
  # What a file includes lies beside the original.
  target_include_directories(${target} BEFORE PRIVATE ${beside})
  set_target_properties(${target} PROPERTIES FORTRANS_SOURCES "${sources}" SOURCES "${now}")
endfunction()

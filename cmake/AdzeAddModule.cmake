# adze_add_module(<name>
#   SOURCE <file.py>          the Python file, relative to the current source directory
#   FUNCTION <function>       the function of this file to compile
#   [IN <spec>...]            one spec per argument, such as "f32[8,784]" or "x=f32[n,784]"
#   [TARGET <target>...]      default: cpu (the processor of the build machine); several make one file for all
#   [OUTPUT <file.vmfb>]      default: <name>.vmfb, relative to the current binary directory
#   [HEADER <file.h>]         also write a C header with typed functions, relative to the current binary directory
#   [EMBED]                   put the program into the header
#   [DEPENDS <file>...]       further files that the module depends on, where adze cannot see that they are read
#   [OPTIONS <argument>...])  further arguments for `adze build`
#
# Adds a target <name> to `all`. It runs `adze build` if a file is newer than the output that the function was
# traced from: the source, modules that it imports, files that it opens (`adze build --depfile`). The target's
# property ADZE_OUTPUT is the full path of the output, and ADZE_HEADER that of the header. A C target that includes
# the header needs add_dependencies(<C target> <name>), or the header among its sources.

function(adze_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED" "SOURCE;FUNCTION;OUTPUT;HEADER" "TARGET;IN;DEPENDS;OPTIONS")

  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "adze_add_module(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(required SOURCE FUNCTION)
    if(NOT DEFINED arg_${required})
      message(FATAL_ERROR "adze_add_module(${name}): ${required} is missing")
    endif()
  endforeach()
  if(NOT DEFINED arg_TARGET)
    set(arg_TARGET cpu)
  endif()
  if(NOT DEFINED arg_OUTPUT)
    set(arg_OUTPUT "${name}.vmfb")
  endif()

  cmake_path(ABSOLUTE_PATH arg_SOURCE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  set(header)
  set(header_options)
  if(DEFINED arg_HEADER)
    cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    set(header "${arg_HEADER}")
    set(header_options --c-stub "${arg_HEADER}")
    if(arg_EMBED)
      list(APPEND header_options --c-embed)
    endif()
  elseif(arg_EMBED)
    message(FATAL_ERROR "adze_add_module(${name}): EMBED needs HEADER <file.h>")
  endif()
  set(inputs)
  foreach(spec IN LISTS arg_IN)
    list(APPEND inputs --in "${spec}")
  endforeach()
  set(targets)
  foreach(target IN LISTS arg_TARGET)
    list(APPEND targets --target "${target}")
  endforeach()

  add_custom_command(
    OUTPUT "${arg_OUTPUT}" ${header}
    COMMAND "${ADZE_EXECUTABLE}" build "${arg_SOURCE}:${arg_FUNCTION}" ${inputs}
            ${targets} --output "${arg_OUTPUT}" --depfile "${arg_OUTPUT}.d" ${header_options} ${arg_OPTIONS}
    DEPFILE "${arg_OUTPUT}.d"
    DEPENDS "${arg_SOURCE}" ${arg_DEPENDS}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "adze: ${arg_SOURCE}:${arg_FUNCTION} for ${arg_TARGET}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${arg_OUTPUT}" ${header})
  set_target_properties(${name} PROPERTIES ADZE_OUTPUT "${arg_OUTPUT}" ADZE_HEADER "${header}")
endfunction()

# find_package(adze): finds the `adze` command of the Python environment that contains this file, and
# provides adze_add_module(). Set ADZE_EXECUTABLE to use the command of another environment.

get_filename_component(_adze_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(
  ADZE_EXECUTABLE adze
  HINTS "${_adze_prefix}/bin" "${_adze_prefix}/Scripts"
  DOC "the adze command")
unset(_adze_prefix)

if(NOT ADZE_EXECUTABLE)
  set(adze_FOUND FALSE)
  set(adze_NOT_FOUND_MESSAGE
      "the adze command was not found beside ${CMAKE_CURRENT_LIST_DIR}; install adze-compiler into that "
      "environment, or set ADZE_EXECUTABLE")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/AdzeAddModule.cmake")

include(GNUInstallDirs)
if(TARGET windtunnel)
  install(TARGETS windtunnel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET windtunnel)
  # Written by the program from the table of its own options.
  install(CODE "
    foreach(page man completion)
      execute_process(COMMAND \"$<TARGET_FILE:windtunnel>\" export \${page} -o \"${CMAKE_BINARY_DIR}/windtunnel.\${page}\" --overwrite --quiet
                      RESULT_VARIABLE failed)
      if(failed)
        message(FATAL_ERROR \"windtunnel export \${page} failed\")
      endif()
    endforeach()")
  install(FILES "${CMAKE_BINARY_DIR}/windtunnel.man" RENAME windtunnel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES "${CMAKE_BINARY_DIR}/windtunnel.completion" RENAME windtunnel
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(DIRECTORY inputs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/windtunnel/inputs)

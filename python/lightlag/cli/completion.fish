function __lightlag_complete
    _LIGHTLAG_COMPLETE=fish _LIGHTLAG_LINE=(commandline -cp) lightlag 2> /dev/null
end
complete --command lightlag --no-files --keep-order --arguments '(__lightlag_complete)'

#!/bin/sh
# Pulumi's Python language host: runs beside the engine, under the environment of the project.
# The Python is $LLM_CAPACITY_PYTHON, else that of the nearest .venv above the working directory.
set -eu
here=$(dirname "$(readlink -f "$0")")
python=${LLM_CAPACITY_PYTHON:-}
folder=$PWD
while [ -z "$python" ]; do
    if [ -x "$folder/.venv/bin/python" ]; then
        python=$folder/.venv/bin/python
    elif [ "$folder" = / ]; then
        echo "pulumi-language-python: no .venv above $PWD; evaluate 'llm-capacity env', or set LLM_CAPACITY_PYTHON" >&2
        exit 1
    else
        folder=$(dirname "$folder")
    fi
done
exec "$python" -u "$here/language_host.py" "$@"

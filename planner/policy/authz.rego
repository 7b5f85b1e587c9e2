# METADATA
# title: Who may ask the local server
# description: |
#   A server on the loopback is open to every process of the machine. Only the process
#   that started it knows the token, and even that process may only ask, never change.
package system.authz

default allow := false

allow if {
	known
	input.method == "POST"
	input.path == ["v1", "data", "llm_capacity", "main", "answer"]
}

allow if {
	known
	input.method == "GET"
	input.path == ["health"]
}

known if crypto.sha256(input.identity) == data.llm_capacity_session.token_sha256

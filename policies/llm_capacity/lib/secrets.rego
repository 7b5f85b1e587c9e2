# METADATA
# title: Secrets
# description: What looks like a secret, by its own form or by the name that it goes under.
package llm_capacity.lib.secrets

import data.llm_capacity.facts.secrets

# METADATA
# description: What a text looks like; undefined for one that resembles no secret.
form(text) := min({row.title |
	some row in secrets.values
	regex.match(row.pattern, sprintf("%v", [text]))
})

# METADATA
# description: Whether a name says that a secret goes under it.
named(name) if regex.match(secrets.names, sprintf("%v", [name]))

# METADATA
# description: Whether a text only refers to a value that is kept elsewhere, or is empty.
refers(text) if regex.match(`^(\$\([A-Za-z_][A-Za-z0-9_]*\))?$`, sprintf("%v", [text]))

# METADATA
# title: Dates
# description: |
#   Dates as ISO text. Rules never read the clock: a decision must replay a year later.
package llm_capacity.lib.dates

# METADATA
# description: True for a calendar date written YYYY-MM-DD.
valid(text) if {
	is_string(text)
	regex.match(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`, text)
}

# METADATA
# description: The date in nanoseconds since 1970, midnight UTC; undefined if not a date.
nanoseconds(text) := time.parse_rfc3339_ns(concat("", [text, "T00:00:00Z"])) if valid(text)

# METADATA
# description: The date a number of months after `text`, in nanoseconds.
months_after(text, months) := time.add_date(nanoseconds(text), 0, months, 0) if is_number(months)

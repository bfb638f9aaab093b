#
# METADATA
# title: Upgrade safety
# description: >-
#   An index image needs a signed statement that installations keep their upgrade path when clusters get the image.
#   Conforma verifies the signatures of statements before it evaluates this rule.
#
package upgrade_safety

import rego.v1

_predicate_type := "urn:portolan:upgrade-safety:v1"

# METADATA
# title: Statement found
# description: The image has a statement about its upgrade safety.
# custom:
#   short_name: found
#   failure_msg: 'No statement about the upgrade safety of %s'
#   solution: Publish the image with `portolan publish --upgrade-safety`.
deny contains result if {
	count(_predicates) == 0
	result := _result("found", sprintf("No statement about the upgrade safety of %s", [_digest]))
}

# METADATA
# title: No statement failed
# description: No installation loses its upgrade path. One failed statement is enough to refuse the image.
# custom:
#   short_name: not_failed
#   failure_msg: 'Commit %s fails: %s'
#   solution: Correct the findings of the statement, and publish the corrected catalog.
deny contains result if {
	some predicate in _predicates
	not _is_unharmed(predicate)
	errors := {finding.message | some finding in predicate.findings; finding.severity == "error"}
	commits := [commit | commit := predicate.commit]
	result := _result("not_failed", sprintf("Commit %s fails: %s", [concat("", commits), concat("; ", errors)]))
}

# METADATA
# title: A statement passed
# description: Upgrades were simulated to the end. What could not be checked does not count as safe.
# custom:
#   short_name: passed
#   failure_msg: 'No statement about the upgrade safety of %s says PASSED'
#   solution: See `unchecked` in the statement, and publish again from a complete clone.
deny contains result if {
	count(_predicates) > 0
	not _has_passed
	result := _result("passed", sprintf("No statement about the upgrade safety of %s says PASSED", [_digest]))
}

_has_passed if {
	some predicate in _predicates
	predicate.result == "PASSED"
}

_is_unharmed(predicate) if predicate.result in {"PASSED", "UNKNOWN"}

# The predicates about this image. A statement about another digest does not count, wherever it was found.
_predicates contains statement.predicate if {
	some attestation in input.attestations
	statement := attestation.statement
	statement.predicateType == _predicate_type
	some subject in statement.subject
	some algorithm, hex in subject.digest
	sprintf("%s:%s", [algorithm, hex]) == _digest
}

default _digest := "an image without a digest"

_digest := regex.find_n(`sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$`, input.image.ref, 1)[0]

_result(name, message) := {
	"code": sprintf("upgrade_safety.%s", [name]),
	"msg": message,
	"effective_on": "2022-01-01T00:00:00Z",
}

// The Kubernetes provider of pulumi-kubernetes, built from its published module.
//
// The module's own main embeds generated files that are not published with it,
// so this one embeds the two source files they are generated from. The build
// copies them from the module cache; they are never committed.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set at link time to the release whose code the module holds.
var version string

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version, schema, terraformMapping)
}

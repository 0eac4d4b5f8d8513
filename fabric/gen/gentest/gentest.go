// SPDX-License-Identifier: Apache-2.0

// Package gentest generates fabrics for tests.
package gentest

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

// Fabric generates the fabric that a text specifies, see [gen.ParseSpec]. It fails the test if the text is invalid.
func Fabric(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// WithLIDs is [Fabric] with LIDs.
func WithLIDs(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := fabric.AssignLIDs(Fabric(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

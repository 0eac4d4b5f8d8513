// SPDX-License-Identifier: Apache-2.0

package shell

import "testing"

// TestEveryCommandRuns: what can be said has something that does it.
func TestEveryCommandRuns(t *testing.T) {
	var walk func(path string, specs []Spec)
	walk = func(path string, specs []Spec) {
		for i := range specs {
			s := &specs[i]
			name := path + s.Name
			if needs := len(s.Subcommands) == 0 || s.Bare || len(s.Args) > 0; needs != (s.Run != nil) {
				t.Errorf("%s: it can stand alone: %v, and has a Run: %v", name, needs, s.Run != nil)
			}
			walk(name+" ", s.Subcommands)
		}
	}
	walk("", commands())
}

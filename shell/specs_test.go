// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"testing"

	"example.org/ibconsole/shell/session/settings"
)

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

// TestOldSettings: a routing that was saved when an option had another name is read.
func TestOldSettings(t *testing.T) {
	given := []settings.Setting{{Name: "lanes", Value: "yes"}}
	set, err := settings.Parse(t.Context(), []string{"dor"}, given)
	if err != nil || len(set.Given) != 1 || set.Given[0].Name != "vls" || given[0].Name != "lanes" {
		t.Errorf("%+v, %v", set.Given, err)
	}
}

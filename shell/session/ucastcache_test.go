// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// With use_ucast_cache the tables of a what-if stay if hosts or leaf switches failed, and are computed if a switch
// without hosts failed, as the report shows. The fabric is a fat tree of 4 leaves with 2 hosts each.
func TestUnicastCache(t *testing.T) {
	for _, k := range []struct {
		failed, engine, says string
	}{
		{
			"leaf-02", compute.CachedEngine, "the unicast cache is valid: missing nodes (3) and links (4) need no " +
				"computation",
		},
		{
			"node-0003 HCA-1", compute.CachedEngine, "the unicast cache is valid: missing nodes (1) and links (1) " +
				"need no computation",
		},
		{"spine-02", "minhop", "the unicast cache is invalid: spine-02 is gone, a switch without CAs"},
	} {
		s := sessiontest.Open(t, "sim:fattree:2,4")
		set, err := settings.Parse(t.Context(), []string{"minhop"},
			[]settings.Setting{{Name: "use_ucast_cache", Value: "TRUE"}})
		if err != nil {
			t.Fatal(err)
		}
		s.SetSettings(set)
		first, err := s.Route(t.Context(), compute.KeepAsOpenSM)
		if err != nil || first.Engine != "minhop" || len(first.Warnings) > 0 || first.Changed > 0 {
			t.Fatalf("%+v, %v", first, err)
		}
		base := s.State().Live.Tables
		node := base.Fabric.NodesByDescription(k.failed)[0]
		if _, err := s.Fail(t.Context(), failures.Nodes("node", k.failed, node)); err != nil {
			t.Fatal(err)
		}
		rep, err := s.Route(t.Context(), compute.KeepAsOpenSM)
		if err != nil || rep.Engine != k.engine || !slices.ContainsFunc(rep.Warnings, func(w string) bool {
			return strings.HasPrefix(w, k.says)
		}) {
			t.Errorf("%s: %+v, %v", k.failed, rep, err)
		}
		staged := s.State().Staged.Tables
		if same := sameRows(base, staged); same != (k.engine == compute.CachedEngine) {
			t.Errorf("%s: tables as before: %v", k.failed, same)
		}
		if rep, err = s.Route(t.Context(), compute.KeepNo); err != nil || rep.Engine != "minhop" ||
			len(rep.Warnings) > 0 {
			t.Errorf("%s, keep=no: %+v, %v", k.failed, rep, err)
		}
	}
}

// sameRows reports whether the remaining switches have unchanged tables.
func sameRows(a, b *fabric.Tables) bool {
	for s := range b.Fabric.Switches {
		if b.Known[s] && !slices.Equal(a.LFT.Row(fabric.SwitchIndex(s)), b.LFT.Row(fabric.SwitchIndex(s))) {
			return false
		}
	}
	return true
}

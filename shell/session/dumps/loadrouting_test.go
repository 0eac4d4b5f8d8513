// SPDX-License-Identifier: Apache-2.0

package dumps_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// savedRouting writes the routing of a subnet without failures to a file and returns its path. Without withChain, the
// file is one of an older version, which did not save the engine chain.
func savedRouting(t *testing.T, source string, set settings.Settings, withChain bool) string {
	t.Helper()
	s := sessiontest.Open(t, source)
	s.SetSettings(set)
	if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := dumps.Write(t.Context(), s, loading.RoutingKind, "", &b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "saved")
	if !withChain {
		saved, err := snapshot.Read(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		saved.Routing.Chain = nil
		b.Reset()
		if err := snapshot.Write(&b, saved); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func parsed(t *testing.T, chain string, given ...settings.Setting) settings.Settings {
	t.Helper()
	set, err := settings.Parse(t.Context(), strings.Split(chain, ","), given)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// failLinks splits a ring of the torus 6x5 into two parts, which torus-2QoS refuses, and fails a switch, which makes
// all saved routes invalid.
func failLinks(t *testing.T, s *session.Session) {
	t.Helper()
	failSwitch(t, s, "sw-0-3")
	for _, name := range []string{"sw-2-1", "sw-4-1"} {
		if _, err := s.Fail(t.Context(), failures.Named("link", []string{name, "2"}, 0)); err != nil {
			t.Fatal(err)
		}
	}
}

// failSwitch makes all saved routes invalid: table 1 of the memo, "missing switch".
func failSwitch(t *testing.T, s *session.Session, name string) {
	t.Helper()
	if _, err := s.Fail(t.Context(), failures.Named("switch", []string{name}, 0)); err != nil {
		t.Fatal(err)
	}
}

// TestLoadRoutingNoFallback checks that minhop replaces a saved engine that refuses the subnet only if neither the file
// nor the session has no_fallback, and that the refusals equal those of route.
func TestLoadRoutingNoFallback(t *testing.T) {
	const source = "sim:torus:6x5"
	routed := sessiontest.Open(t, source)
	failLinks(t, routed)
	routed.SetSettings(parsed(t, "torus-2QoS"))
	want, err := routed.Route(t.Context(), compute.KeepNo)
	if err != nil || len(want.Refusals) != 1 {
		t.Fatalf("torus-2QoS routes: %+v, %v", want.Refusals, err)
	}
	qos := settings.Setting{Name: "qos", Value: "yes"}
	for _, given := range [][]settings.Setting{nil, {qos}} {
		for _, saved := range []struct {
			chain string
			kept  bool // the file holds the chain
		}{{"torus-2QoS", true}, {"torus-2QoS,no_fallback", true}, {"torus-2QoS,no_fallback", false}} {
			path := savedRouting(t, source, parsed(t, saved.chain, given...), saved.kept)
			for _, chain := range []string{"torus-2QoS", "torus-2QoS,no_fallback", "minhop", "minhop,no_fallback"} {
				name := fmt.Sprintf("file %+v, session %s, options %v", saved, chain, given)
				s := sessiontest.Open(t, source)
				failLinks(t, s)
				s.SetSettings(parsed(t, chain))
				rep, err := loading.Load(t.Context(), s, loading.RoutingKind, path, session.LoadOptions{})
				var none *engines.NoneError
				switch {
				case strings.Contains(chain, engines.NoFallback) || saved.kept &&
					strings.Contains(saved.chain, engines.NoFallback):
					if !errors.As(err, &none) || !reflect.DeepEqual(none.Refusals, want.Refusals) ||
						s.State().Staged != nil {
						t.Errorf("%s: %v, %+v, want the refusals %+v and nothing staged", name, err, rep.Routing,
							want.Refusals)
					}
				case err != nil || rep.Routing.RoutedBy != "minhop" ||
					!reflect.DeepEqual(rep.Routing.Refusals, want.Refusals):
					t.Errorf("%s: %v, %+v, want minhop after the refusals %+v", name, err, rep.Routing, want.Refusals)
				}
			}
		}
	}
}

// TestRoutedWithNoFallback checks that the engine chain of tables includes the no_fallback with which they were
// computed.
func TestRoutedWithNoFallback(t *testing.T) {
	for chain, want := range map[string]string{"lash": "lash", "lash,no_fallback": "lash,no_fallback",
		"torus-2QoS,lash,no_fallback": "lash,no_fallback"} {
		s := sessiontest.Open(t, "sim:fattree:2,4")
		s.SetSettings(parsed(t, chain))
		if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
			t.Fatal(err)
		}
		if got, _, ok := s.State().Staged.RoutedWith(); got != want || !ok {
			t.Errorf("%s: routed with %q, want %q", chain, got, want)
		}
	}
}

// TestCalibrateRefusals checks that a calibration lists the engines that refused the subnet, as route does.
func TestCalibrateRefusals(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	s.SetSettings(parsed(t, "torus-2QoS,updn"))
	rep, err := s.Route(t.Context(), compute.KeepNo)
	if err != nil || len(rep.Refusals) != 1 {
		t.Fatalf("%+v, %v", rep.Refusals, err)
	}
	if c, err := s.Calibrate(t.Context()); err != nil || !slices.Equal(c.Refused, []string{rep.Refusals[0].String()}) ||
		c.Engine != "updn" {
		t.Errorf("calibrate: refused by %q, routed by %s, %v", c.Refused, c.Engine, err)
	}
}

// TestLoadRoutingRoutesAsRoute checks that a saved routing that must be computed again equals the result of route with
// its settings: entries, SL2VL tables and warnings.
func TestLoadRoutingRoutesAsRoute(t *testing.T) {
	for _, k := range []struct {
		source, chain string
		given         []settings.Setting
	}{
		{"sim:torus:6x5", "torus-2QoS", nil},
		{"sim:torus:4x4", "lash", nil},
		{"sim:torus:4x4", "lash", []settings.Setting{{Name: "qos", Value: "no"}}},
		{"sim:torus:4x4", "updn,dfsssp", []settings.Setting{{Name: "qos", Value: "no"}}},
		{"sim:torus:4x4", "dfsssp,no_fallback", []settings.Setting{{Name: "lmc", Value: "1"}}},
	} {
		set := parsed(t, k.chain, k.given...)
		path := savedRouting(t, k.source, set, true)
		var tables [2]*session.Picture
		var warnings [2][]string
		for i := range tables {
			s := sessiontest.Open(t, k.source)
			s.SetSettings(set)
			failSwitch(t, s, "sw-2-3")
			if i == 0 {
				rep, err := s.Route(t.Context(), compute.KeepNo)
				if err != nil {
					t.Fatal(err)
				}
				warnings[0] = rep.Warnings
			} else {
				rep, err := loading.Load(t.Context(), s, loading.RoutingKind, path, session.LoadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if rep.Routing.RoutedBy == "" {
					t.Fatalf("%+v: the routing was not computed again: %s", k, rep.Routing.How)
				}
				warnings[1] = rep.Notes
			}
			tables[i] = s.State().Staged
		}
		a, b := tables[0], tables[1]
		if diff.Count(a.Tables, b.Tables).Changed > 0 || !reflect.DeepEqual(a.Tables.SL2VL, b.Tables.SL2VL) ||
			a.Tables.Unread != b.Tables.Unread || a.UnsetVLs != b.UnsetVLs {
			t.Errorf("%+v: the tables differ from those of route", k)
		}
		if !slices.Equal(warnings[0], warnings[1]) {
			t.Errorf("%+v: warnings %q, want those of route, %q", k, warnings[1], warnings[0])
		}
	}
}

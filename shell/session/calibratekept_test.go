// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/survey"
)

// TestOtherEngine: minhop routed, and a calibration with lash says that
// tables were computed otherwise. Problems asks for the settings, and not whether each switch
// missed a sweep. A switch whose table was not read is named and not compared.
func TestOtherEngine(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:4x4")
	set, err := settings.Parse(t.Context(), []string{"lash"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	s.Publish(0, func(st *session.State) {
		live, tables := *st.Live, *st.Live.Tables
		tables.Known = slices.Clone(tables.Known)
		tables.Known[2] = false
		live.Tables = &tables
		st.Live = &live
	})
	live := s.State().Live.Fabric
	c, err := s.Calibrate(t.Context())
	if err != nil || c.Engine != "lash" || c.Differ == 0 || c.Kept != calibration.NotKept || c.Explained() ||
		!s.State().Estimate {
		t.Errorf("%+v, %v", c, err)
	}
	if want := []string{live.NodeName(live.Switches[2])}; !slices.Equal(c.Unread, want) {
		t.Errorf("unread: %v, want %v", c.Unread, want)
	}
	rep, err := survey.Problems(t.Context(), s, survey.Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	for _, p := range rep.Problems {
		if p.Kind == problems.TablesDiffer {
			differ++
		}
		if strings.Contains(p.Try, "miss a sweep") {
			t.Errorf("%s: %s", p.What, p.Try)
		}
	}
	if differ == 0 {
		t.Error("no tables differ")
	}
}

// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

const torusConf = "torus 6 5 1\nxp_link 0x200000 0x200005\nyp_link 0x200000 0x200001\n"

// The settings of an opensm.conf for torus-2QoS work as in OpenSM: with a missing or invalid file, or with qos off,
// torus-2QoS refuses.
func TestTorusSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := write("good", torusConf), write("bad", torusConf+"x_dateline 6\n")
	for _, k := range []struct {
		conf  string // "" for options alone
		given []settings.Setting
		why   string
	}{
		{"", nil, ""},
		{"", []settings.Setting{{Name: "torus_config", Value: good}}, ""},
		{"", []settings.Setting{{Name: "torus_config", Value: bad}}, bad + ":4: x_dateline: 6 is out of range"},
		{"", []settings.Setting{{Name: "qos", Value: "no"}}, "ERR 4E44"},
		{"qos TRUE\ntorus_config " + good, nil, ""},
		{"torus_config " + good, nil, "ERR 4E44"},
		{"torus_config " + good, []settings.Setting{{Name: "qos", Value: "yes"}}, ""},
		{"qos TRUE\ntorus_config " + dir + "/none", nil, "ERR 4E11"},
		{"qos TRUE\ntorus_config (null)", nil, "ERR 4E11"},
		{"qos TRUE\ntorus_config " + bad, []settings.Setting{{Name: "torus_config", Value: good}}, ""},
	} {
		s := sessiontest.Open(t, "sim:torus:6x5")
		set, err := settings.Parse(t.Context(), []string{"torus-2QoS"}, k.given)
		if k.conf != "" {
			set, err = settings.ReadConf(t.Context(), write("opensm.conf", "routing_engine torus-2QoS\n"+k.conf+"\n"),
				settings.Around{}, nil, k.given)
		}
		if err != nil {
			t.Errorf("%q, %v: %v", k.conf, k.given, err)
			continue
		}
		s.SetSettings(set)
		rep, err := s.Route(t.Context(), compute.KeepNo)
		switch {
		case err != nil:
			t.Errorf("%q, %v: %v", k.conf, k.given, err)
		case k.why == "" && (rep.Engine != "torus-2QoS" || len(rep.Refusals) > 0):
			t.Errorf("%q, %v: routed by %s after %v", k.conf, k.given, rep.Engine, rep.Refusals)
		case k.why != "" && (rep.Engine != "minhop" || !strings.Contains(rep.Refusals[0].Reason, k.why)):
			t.Errorf("%q, %v: routed by %s after %v, want that torus-2QoS refuses with %q", k.conf, k.given, rep.Engine,
				rep.Refusals, k.why)
		}
	}
	if _, err := settings.Parse(t.Context(), []string{"torus-2QoS"},
		[]settings.Setting{{Name: "torus_config", Value: dir + "/none"}}); err == nil {
		t.Error("a file that is not there is taken")
	}
}

// torus-2QoS does not support configured service levels except 0 and 8, or configured VLs (torus-2QoS(8), at its end).
func TestTorusQoSNotes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	partitions := write("partitions.conf", "Default=0x7fff,ipoib,sl=0:ALL=full;\nhigh=0x1,sl=8:ALL;\n# "+
		"sl=1\nbad=0x2, sl = 3 :ALL;\n")
	policy := write("policy", "qos-levels\n  qos-level\n    name: default\n    sl: 8\n  end-qos-level\n  qos-level\n"+
		"    name: one\n    sl: 5\n  end-qos-level\nend-qos-levels\nqos-match-rules\n  qos-match-rule\n"+
		"    qos-level-name: one\n  end-qos-match-rule\nend-qos-match-rules\n")
	conf := "qos TRUE\nqos_sl2vl 0,1,2\npartition_config_file " + partitions + "\nqos_policy_file " + policy +
		"\ntorus_config " + write("torus", torusConf) + "\n"
	for engine, want := range map[string][]string{
		"torus-2QoS": {"qos_sl2vl is ignored", "partitions.conf:4: service level 3", "policy:9: service level 5"},
		"minhop":     nil,
	} {
		set, err := settings.ReadConf(t.Context(), write("opensm.conf", "routing_engine "+engine+"\n"+conf),
			settings.Around{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(set.Notes, "\n")
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: notes %q, want %q", engine, set.Notes, w)
			}
		}
		if n := strings.Count(all, "service level ") + strings.Count(all, "is ignored"); n != len(want) {
			t.Errorf("%s: %d notes of quality of service, want %d: %q", engine, n, len(want), set.Notes)
		}
	}
}

func TestTorusIgnoresLoadedLanes(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:4x4")
	set, err := settings.Parse(t.Context(), []string{"torus-2QoS"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
		t.Fatal(err)
	}
	before := s.State().Staged
	var b strings.Builder
	if err := osm.WriteSL2VL(&b, before.Fabric, routing.VLPerSL(before.Fabric, 8)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sl2vl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := loading.Load(t.Context(), s, "sl2vl", path, session.LoadOptions{})
	if err != nil || !strings.Contains(rep.Ignored, "torus-2QoS maps SLs to VLs itself") || s.State().Staged != before {
		t.Errorf("%+v, %v, want that the lanes are ignored", rep, err)
	}
}

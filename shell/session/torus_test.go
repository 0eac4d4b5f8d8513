// SPDX-License-Identifier: Apache-2.0

package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const torusConf = "torus 6 5 1\nxp_link 0x200000 0x200005\nyp_link 0x200000 0x200001\n"

// What an opensm.conf says of torus-2QoS decides as it does for OpenSM: a file
// that is missing or bad, and qos that is off, make it refuse.
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
		given []Setting
		why   string
	}{
		{"", nil, ""},
		{"", []Setting{{Name: "torus_config", Value: good}}, ""},
		{"", []Setting{{Name: "torus_config", Value: bad}}, bad + ":4: x_dateline: 6 is out of range"},
		{"", []Setting{{Name: "qos", Value: "no"}}, "ERR 4E44"},
		{"qos TRUE\ntorus_config " + good, nil, ""},
		{"torus_config " + good, nil, "ERR 4E44"},
		{"torus_config " + good, []Setting{{Name: "qos", Value: "yes"}}, ""},
		{"qos TRUE\ntorus_config " + dir + "/none", nil, "ERR 4E11"},
		{"qos TRUE\ntorus_config (null)", nil, "ERR 4E11"},
		{"qos TRUE\ntorus_config " + bad, []Setting{{Name: "torus_config", Value: good}}, ""},
	} {
		s := open(t, "sim:torus:6x5")
		set, err := ParseSettings([]string{"torus-2QoS"}, k.given)
		if k.conf != "" {
			set, err = ReadConf(write("opensm.conf", "routing_engine torus-2QoS\n"+k.conf+"\n"), nil, k.given)
		}
		if err != nil {
			t.Errorf("%q, %v: %v", k.conf, k.given, err)
			continue
		}
		s.SetSettings(set)
		rep, err := s.Route(t.Context(), KeepNo)
		switch {
		case err != nil:
			t.Errorf("%q, %v: %v", k.conf, k.given, err)
		case k.why == "" && (rep.Engine != "torus-2QoS" || len(rep.Refusals) > 0):
			t.Errorf("%q, %v: routed by %s after %v", k.conf, k.given, rep.Engine, rep.Refusals)
		case k.why != "" && (rep.Engine != "minhop" || !strings.Contains(rep.Refusals[0].Reason, k.why)):
			t.Errorf("%q, %v: routed by %s after %v, want that torus-2QoS refuses with %q", k.conf, k.given, rep.Engine, rep.Refusals, k.why)
		}
	}
	if _, err := ParseSettings([]string{"torus-2QoS"}, []Setting{{Name: "torus_config", Value: dir + "/none"}}); err == nil {
		t.Error("a file that is not there is taken")
	}
}

// SPDX-License-Identifier: Apache-2.0

package bugreport

import (
	"errors"
	"os"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/umad"
)

// TestNamesStayOut has nodes with hostile names, and findings that quote them, GUIDs and addresses.
func TestNamesStayOut(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	hostile := []string{
		"acme-secret01 HCA-1", "\x1b[2J\x1b]0;acme\x07", "# acme\n* | `x`", strings.Repeat("acme", 16), "a", "",
	}
	named := map[uint64]string{}
	for i, name := range hostile {
		named[f.Nodes[i].GUID] = name
	}
	f = f.WithDescriptions(named)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	r := Report{
		Version: "1.0", Words: []string{"file:/srv/acme/fabric.net"},
		Findings: []umad.Finding{
			{
				Text: fabric.Escape(hostile[0] + "/1 and " + hostile[1] + hostile[2] +
					" of 0x0002c90300acce55 at 10.1.2.3 on " + host), Remedy: "look at /srv/acme/fabric.net",
			},
		},
		Subnets: []Subnet{
			{Kind: "file", Fabric: f, Structure: "fat-tree", Managers: []string{"master, priority 3"},
				Figures: map[string]string{"swept in": "1 s"}},
			{Kind: "file", Failed: errors.New("open /srv/acme/fabric.net: no such file")},
		},
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, bad := range []string{"acme", "acce55", "10.1.2.3", "\x1b", "\x07"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in it:\n%s", bad, text)
		}
	}
	for _, want := range []string{"ibconsole 1.0", "8 Channel Adapter, 6 Switch", "16 4xSDR", "structure: fat-tree",
		"master, priority 3", "swept in: 1 s", "it could not be read: open (source)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it:\n%s", want, text)
		}
	}
}

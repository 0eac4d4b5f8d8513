// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/places"
)

// TestSeveralSubnets opens each subnet of a file with two planes of the same hosts. The names of the other subnet do
// not make a name ambiguous.
func TestSeveralSubnets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two@planes.net")
	net := "Switch 8 \"leaf\"\n[1] \"h1\"[1]\n[2] \"h2\"[1]\n\nSwitch 8 \"leaf b\"\n[1] \"h1\"[2]\n[2] \"h2\"[2]\n" +
		"[3] \"h3\"[1]\n\nHca 2 \"h1\"\n[1] \"leaf\"[1]\n[2] \"leaf b\"[1]\n\nHca 2 \"h2\"\n[1] \"leaf\"[2]\n" +
		"[2] \"leaf b\"[2]\n\nHca 1 \"h3\"\n[1] \"leaf b\"[3]\n"
	if err := os.WriteFile(path, []byte(net), 0o600); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "counters")
	const counted = "# Port counters: Lid 1 port 1 (CapMask: 0x0)\nPortSelect:......................1\n"
	if err := os.WriteFile(dump, []byte(counted), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		seat     string
		adapters int
		other    string
	}{
		{"", 2, "1 switch and 3 adapters (-s 'file:" + path + "@leaf b')"},
		{"@h1/1", 2, "@leaf b')"},
		{"@leaf b", 3, "1 switch and 2 adapters (-s 'file:" + path + "@leaf')"},
		{"@h3", 3, "@leaf')"},
		{"@h3," + dump, 3, "@leaf')"},
		{"@dr:0,2," + dump, 2, "@leaf b')"},
		{"," + dump, 2, "@leaf b')"},
	} {
		file, err := ReadFile(t.Context(), File, path+k.seat, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in := file.Fabric.Inventory().InSubnet
		if in.Switches != 1 || in.CAs != k.adapters || in.Links != k.adapters {
			t.Errorf("seat %q: %+v, want %d adapters", k.seat, in, k.adapters)
		}
		if len(file.Warnings) != 1 || !strings.Contains(file.Warnings[0], "2 separate subnets") ||
			!strings.Contains(file.Warnings[0], k.other) {
			t.Errorf("seat %q: warnings %q, want %q", k.seat, file.Warnings, k.other)
		}
		if _, err := places.Resolve(file.Fabric, "lea"); err != nil {
			t.Errorf("seat %q: %v", k.seat, err)
		}
	}
	if _, err := ReadFile(t.Context(), File, path+"@", formats.Options{}); err == nil ||
		!strings.Contains(err.Error(), "no place after @") {
		t.Errorf("an empty seat: %v", err)
	}
	if _, err := ReadFile(t.Context(), File, path+"@absent", formats.Options{}); err == nil ||
		!strings.Contains(err.Error(), `no node is called "absent"`) {
		t.Errorf("an unknown seat: %v", err)
	}
}

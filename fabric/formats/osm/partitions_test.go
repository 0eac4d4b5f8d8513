// SPDX-License-Identifier: Apache-2.0

package osm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
)

// TestPartitions has cases worked out from opensm(8) and osm_prtn_config.c.
func TestPartitions(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []uint64
	switches := 0
	for _, e := range f.EndPorts {
		if f.Nodes[f.Ports[e].Node].IsSwitch() {
			switches++
		} else {
			hosts = append(hosts, f.Ports[e].GUID)
		}
	}
	all := len(hosts) + switches
	one, two := fmt.Sprintf("0x%x", hosts[1]), fmt.Sprintf("0x%x", hosts[2])
	for _, tc := range []struct {
		text string
		// want lists number, SL, full members and limited members of each partition.
		want   string
		notes  int
		broken bool
	}{
		{"Default=0x7fff:ALL;", fmt.Sprintf("7fff/0/0/%d", all), 0, false},
		{"Default=0x7fff, ipoib, sl=3, mtu=5:ALL=full;", fmt.Sprintf("7fff/3/%d/0", all), 0, false},
		{
			"A=0x8021,defmember=full:" + one + "," + two + "=limited;", fmt.Sprintf("21/0/1/1 7fff/0/1/%d", all-1), 0,
			false,
		},
		{"Default=0x7fff:ALL;\r\n# a remark\r\n", fmt.Sprintf("7fff/0/%d/0", all), 2, true},
		{"A=0x21:" + one + "=full;# a remark\r\n", fmt.Sprintf("21/0/1/0 7fff/0/1/%d", all-1), 0, false},
		{"A=0x21,sl=2:" + one + "=full;\nA=0x21:" + two + ";", fmt.Sprintf("21/0/1/1 7fff/0/1/%d", all-1), 0, false},
		{
			"A=0x21:" + one + "=full,\n" + two + "=full ; # a comment\n", fmt.Sprintf("21/0/2/0 7fff/0/1/%d", all-1), 0,
			false,
		},
		{
			"A:" + one + ";B:ALL_CAS=both;A:" + two + ";", fmt.Sprintf("1/0/0/2 2/0/%d/0 7fff/0/1/%d", len(hosts),
				all-1), 0, false,
		},
		{"A=0x21:ALL_SW=f;0x22:SELF;", fmt.Sprintf("21/0/%d/0 22/0/0/1 7fff/0/1/%d", switches, all-1), 0, false},
		{"A=0x21:NONE;B=0x22:0x1234;", fmt.Sprintf("7fff/0/1/%d", all-1), 0, false},
		{"A=0x21,sl=16:" + one + ";", fmt.Sprintf("21/0/0/1 7fff/0/1/%d", all-1), 1, false},
		{"A=0x21:mgid=ff12:401b::0707,sl=1\n" + one + ";", fmt.Sprintf("21/0/0/1 7fff/0/1/%d", all-1), 1, false},
		{"A=0x21:" + one + ";\nB=0x22:host;", fmt.Sprintf("7fff/0/%d/0", all), 1, true},
		{"A=0x21", fmt.Sprintf("7fff/0/%d/0", all), 1, true},
		{"# nothing\n", fmt.Sprintf("7fff/0/%d/0", all), 1, true},
	} {
		p, err := osm.ReadPartitions(strings.NewReader(tc.text), "partitions.conf")
		if err != nil {
			t.Fatal(err)
		}
		if got := counts(p.Of(f)); got != tc.want || len(p.Notes) != tc.notes || p.Broken != tc.broken {
			t.Errorf("%q: %s, want %s; broken %v, %v", tc.text, got, tc.want, p.Broken, p.Notes)
		}
	}
	var none *osm.PartitionFile
	if got, want := counts(none.Of(f)), fmt.Sprintf("7fff/0/%d/0", all); got != want {
		t.Errorf("without a file: %s, want %s", got, want)
	}
	for port, keys := range osm.PKeys(f, none.Of(f)) {
		if port == fabric.None || !slices.Equal(keys, []mad.PKey{mad.PKeyDefault}) {
			t.Errorf("P_Keys %v of port %d", keys, port)
		}
	}
}

func counts(all []osm.Partition) string {
	var words []string
	for i := range all {
		full := 0
		for m := range maps.Values(all[i].Members) {
			if m {
				full++
			}
		}
		words = append(words, fmt.Sprintf("%x/%d/%d/%d", all[i].Number, all[i].SL, full, len(all[i].Members)-full))
	}
	return strings.Join(words, " ")
}

func FuzzReadPartitions(f *testing.F) {
	f.Add("Default=0x7fff, ipoib, sl=3:ALL=full, SELF=full;\nA=0x21 , defmember=full : 0x1, 0x2=limited ;")
	sub, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if p, err := osm.ReadPartitions(strings.NewReader(text), "partitions.conf"); err == nil {
			osm.PKeys(sub, p.Of(sub))
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestPartitionGroups has the results that OpenSM 3.3.23 gives for flags of the broadcast group: for wrong ones it logs
// "ERR 1B26: Requested MGRP parameters are not realizable" and creates no group.
func TestPartitionGroups(t *testing.T) {
	net := testenv.SharedFile(t, "cases/05-partitions-mtu/in.net")
	bad := strings.Fields("mtu=6 mtu=0 mtu=4096 mtu=2048 mtu=abc rate=40 rate=63 rate=23")
	good := strings.Fields("mtu=1 mtu=2 mtu=4 mtu=5 mtu=64 mtu=68 mtu=133 rate=2 rate=3 rate=7 rate=16 rate=22 scope=2")
	for i, flag := range append(bad, good...) {
		path := writeFile(t, "p.conf", "# a remark\nDefault=0x7fff, ipoib, "+flag+" : ALL=full;\n")
		want := "1 multicast group created, 0 not created"
		if i < len(bad) {
			want = "0 multicast groups created, 1 not created"
		}
		out, err := on(t, "net:"+net, "check partitions "+path)
		if !strings.Contains(out, want) || (err != nil) != (i < len(bad)) {
			t.Errorf("%s: no %q: %v\n%s", flag, want, err, out)
		}
		out, err = on(t, "net:"+net, "engine minhop partition_config_file="+path)
		if err != nil || strings.Contains(out, "p.conf:2: OpenSM does not create group") != (i < len(bad)) {
			t.Errorf("engine with %s: %v\n%s", flag, err, out)
		}
	}
}

// TestPartitionFaults checks that each kind of fault is found in its line and nothing is found in a right file.
func TestPartitionFaults(t *testing.T) {
	// The hosts of fattree:2,4 have the port GUIDs 0x100001, 0x100003, and so on.
	const right = "Default=0x7fff, ipoib : ALL, SELF=full ;\nA=0x21 : 0x100001=full, 0x100003 ;\n"
	for _, c := range []struct{ engine, text, want string }{
		{"minhop", right, ""},
		{"minhop", right + "A=0x21 : 0x999 ;\n", `3 +member +0x0000000000000999: the subnet has no such port`},
		{"minhop", right + "B=0x22 : ALL_ROUTERS ;\n", `3 +member +partition B has no members`},
		{"minhop", right + "A=0x21 : 0x100003=limited ;\n", `3 +membership .* by line 2 already`},
		{"minhop", right + "A=0x21 : 0x100003=full ;\n", `3 +membership .* full member .* limited by line 2`},
		{"minhop", right + "B=0x22, indx : 0x100001 ;\n", `3 +flag +unknown flag "indx"`},
		{"minhop", right + "B=0x22 : node-0001 ;\n", `3 +syntax +"node-0001" is not a port GUID`},
		{"minhop", right + "B=0x22, sl=3 : 0x100001 ;\n", ""},
		{"torus-2QoS", right + "B=0x22, sl=3 : 0x100001 ;\n", `3 +service level .*torus-2QoS allows only 0 and 8`},
		{"torus-2QoS", right + "B=0x22, sl=8 : 0x100001 ;\n", ""},
		{"lash", right + "B=0x22, sl=3 : 0x100001 ;\n", `3 +service level .*lash computes`},
		{"dfsssp", right + "B=0x22, sl=3 : 0x100001 ;\n", `3 +service level .*dfsssp computes`},
		{"nue", right + "B=0x22, sl=3 : 0x100001 ;\n", `3 +service level .*nue computes`},
		{"minhop qos=no", right + "B=0x22, sl=3 : 0x100001 ;\n", `3 +service level .*quality of service is off`},
	} {
		path := writeFile(t, "p.conf", c.text)
		out, err := on(t, "sim:fattree:2,4", "engine "+c.engine+"; check partitions "+path)
		if c.want == "" && (err != nil || !strings.Contains(out, "0 faults")) || c.want != "" && (err == nil ||
			!matches(out, `(?m)^`+c.want)) {
			t.Errorf("%s: %q: %v\n%s", c.engine, c.text, err, out)
		}
	}
}

// TestPartitionDifferences compares two files, and a file with a folder of ibdiagnet.
func TestPartitionDifferences(t *testing.T) {
	one := writeFile(t, "one.conf", "Default=0x7fff, ipoib : ALL=full ;\nA=0x21 : 0x100001=full, 0x100003 ;\n")
	two := writeFile(t, "two.conf", "Default=0x7fff : ALL=full ;\nA=0x21, sl=2 : 0x100001=full, 0x100003=full ;\n")
	if out, err := on(t, "sim:fattree:2,4", "check partitions "+one+" with="+one); err != nil ||
		!strings.Contains(out, "0 differences") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := on(t, "sim:fattree:2,4", "check partitions "+one+" with="+two)
	for _, want := range []string{
		"3 differences", `P_Keys +node-0002 HCA-1/1 +0x0021 0xffff +0x8021 0xffff`, `service level +0x0021 +0 +2`,
		`group +ff12:401b:ffff::ffff:ffff +MTU 2048, .* none`,
	} {
		if err == nil || !matches(out, want) {
			t.Errorf("no %q: %v\n%s", want, err, out)
		}
	}
	for file, want := range map[string]string{
		one: "2 differences", writeFile(t, "plain.conf", "Default=0x7fff, ipoib : ALL=full ;\n"): "0 differences",
	} {
		out, err := on(t, "sim:fattree:2,4", "sweep full pkeys; check partitions "+file+" with=live")
		if !strings.Contains(out, want) || (err != nil) != (want != "0 differences") {
			t.Errorf("no %q: %v\n%s", want, err, out)
		}
	}
	if out, err := on(t, "sim:fattree:2,4", "check partitions "+one+" with=live"); err == nil ||
		!strings.Contains(err.Error(), "were not read") {
		t.Errorf("P_Keys that were not read: %v\n%s", err, out)
	}
}

// TestBothPKeys names the option that gives members two P_Keys of a partition, which is not modelled.
func TestBothPKeys(t *testing.T) {
	for value, want := range map[string]bool{"TRUE": true, "FALSE": false} {
		conf := writeFile(t, "opensm.conf", "routing_engine minhop\nallow_both_pkeys "+value+"\n")
		out, err := on(t, "sim:fattree:2,4", "engine from="+conf)
		if err != nil || strings.Contains(out, "opensm.conf:2: allow_both_pkeys is not modelled") != want {
			t.Errorf("%s: %v\n%s", value, err, out)
		}
	}
}

func matches(text, pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// SPDX-License-Identifier: Apache-2.0

package osm_test

import (
	"bytes"
	_ "embed"
	"reflect"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/mad"
)

// mcfdbs is a file in the form of osm_dump.c, dump_mcast_routes: GUIDs have 16 digits, ports three digits with a space
// before and after them.
const mcfdbs = `
Switch 0x0000000000200000
LID    : Out Port(s)
0xC000 : 0x000  0x002 
0xC021 : 0x001 

Switch 0x0000000000200002
LID    : Out Port(s)
0xC021 : 0x003 
`

func TestMCFDBsComeBack(t *testing.T) {
	f := minhopTables(t, "fattree:2,4").Tables.Fabric
	mft, rep, err := osm.ReadMCFDBs(strings.NewReader(mcfdbs), "m", f)
	if err != nil || rep.Switches != 2 || rep.Entries != 4 || len(rep.Lines()) > 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if !mft.Has(0, 0xc000, 0) || !mft.Has(0, 0xc000, 2) || !mft.Has(0, 0xc021, 1) || !mft.Has(2, 0xc021, 3) ||
		mft.Has(1, 0xc000, 1) || mft.Top != 0xc021 {
		t.Errorf("other entries than in the file: %+v", mft)
	}
	var out bytes.Buffer
	if err := osm.WriteMCFDBs(&out, f, mft); err != nil || out.String() != mcfdbs {
		t.Errorf("%v\n%s", err, &out)
	}
	mft, rep, err = osm.ReadMCFDBs(strings.NewReader(strings.ReplaceAll(mcfdbs, "200002", "290000")), "m", f)
	if err != nil || rep.UnknownSwitches.Count != 1 || mft.Has(2, 0xc021, 3) || rep.Entries != 3 {
		t.Errorf("with an unknown switch: %+v, %v", rep, err)
	}
	if mft, rep, err = osm.ReadMCFDBs(strings.NewReader(""), "m", f); err == nil ||
		err.Error() != "m:1: the file is empty, expected multicast tables" || mft != nil {
		t.Errorf("empty file: %+v, %v", rep, err)
	}
}

func TestMCFDBsRefuses(t *testing.T) {
	f := minhopTables(t, "fattree:2,4").Tables.Fabric
	const head = "\nSwitch 0x0000000000200000\nLID    : Out Port(s)\n"
	for text, want := range map[string]string{
		"nothing\n":                     "m:1: cannot parse",
		"0xC000 : 0x001\n":              "m:1: an entry \"0xC000 : 0x001\" before any switch",
		"Switch 0xq\n":                  "m:1: cannot parse switch GUID",
		head + "0x0001 : 0x001\n":       "m:4: cannot parse multicast LID",
		head + "0xC000   0x001\n":       "m:4: no colon",
		head + "0xC000 :\n":             "m:4: no ports",
		head + "0xC000 : 1\n":           "m:4: cannot parse port",
		head + "0xC000 : 0x005\n":       "m:4: the table has port 5, but its switch has 4 ports",
		head + "0xC000 : 0x0FF\n":       "m:4: cannot parse port",
		head + "0xC000 : 0x001  0x00":   "m:4: the file is truncated",
		head + "0xFFFF : 0x001  0x002 ": "m:4: the file is truncated",
	} {
		if _, _, err := osm.ReadMCFDBs(strings.NewReader(text), "m", f); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// saDump is an IPoIB group with two members in the form of osm_sa.c, sa_dump_one_mgrp. The tests of the engines read
// OpenSM's own files.
//
//go:embed testdata/opensm-sa.dump
var saDump string

func TestGroupsComeBack(t *testing.T) {
	groups, err := osm.ReadGroups(strings.NewReader(saDump+"Service Record: id=0x1\n# a remark\n"), "g")
	if err != nil || len(groups) != 1 {
		t.Fatalf("%+v, %v", groups, err)
	}
	want := fabric.Group{
		MGID: mad.NewGID(0xff12401bffff0000, 0xffffffff), MLID: 0xc000, WellKnown: true, QKey: 0xb1b, PKey: 0xffff,
		MTU: 4, Rate: 3, Life: 18, Scope: 2,
		Members: []fabric.Member{
			{Prefix: 0xfe80000000000000, GUID: 0x100001, Join: fabric.JoinFull},
			{Prefix: 0xfe80000000000000, GUID: 0x100003, Join: fabric.JoinSendOnly, Proxy: true},
		},
	}
	if !reflect.DeepEqual(groups[0], want) {
		t.Errorf("%+v, want %+v", groups[0], want)
	}
	var out bytes.Buffer
	if err := osm.WriteGroups(&out, groups); err != nil || out.String() != saDump {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestGroupsRefuses(t *testing.T) {
	const head = "MC Group 0xC000 :\n"
	for text, want := range map[string]string{
		"nothing":                  "g:1: cannot parse",
		"MC Group 0xC000":          "g:1: no colon",
		"MC Group 0x1 :":           "g:1: \"0x1\" is not a multicast LID",
		"MC Group 0xFFFF :":        "g:1: \"0xFFFF\" is not a multicast LID",
		"MC Group 0xC000 : x":      "g:1: \"x\", expected NAME=VALUE",
		"MC Group 0xC000 : x=1":    "g:1: a group has no field \"x\"",
		"MC Group 0xC000 : mtu=x":  "g:1: mtu=x, expected a number of 8 bits",
		"MC Group 0xC000 : mgid=1": "g:1: cannot parse GID",
		"MC Group 0xC000 : mgid=0xfe80000000000000:0x1":      "g:1: mgid 0xfe80000000000000:0x1 is not a multicast GID",
		"MC Group 0xC000 : mlid=0xc001":                      "g:1: mlid=0xc001 differs from the multicast LID 0xc000",
		"mcm_port: port_gid=0x1:0x2":                         "g:1: a member before any group",
		head + "mcm_port:":                                   "g:2: a member without port_gid",
		head + "mcm_port: port_gid=0x1:0x2 scope_state=0x20": "g:2: scope_state without a join bit",
		head + "mcm_port: guid=0x1":                          "g:2: a member has no field \"guid\"",
	} {
		if _, err := osm.ReadGroups(strings.NewReader(text), "g"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadMCFDBs(f *testing.F) {
	f.Add(mcfdbs)
	subnet := minhopTables(f, "fattree:2,4").Tables.Fabric
	f.Fuzz(func(t *testing.T, text string) {
		mft, _, err := osm.ReadMCFDBs(strings.NewReader(text), "m", subnet)
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if _ = osm.WriteMCFDBs(&once, subnet, mft); once.Len() == 0 {
			return
		}
		again, _, err := osm.ReadMCFDBs(bytes.NewReader(once.Bytes()), "m", subnet)
		if err != nil {
			t.Fatal(err)
		}
		_ = osm.WriteMCFDBs(&twice, subnet, again)
		if once.String() != twice.String() {
			t.Errorf("%q becomes %q", &once, &twice)
		}
	})
}

func FuzzReadGroups(f *testing.F) {
	f.Add(saDump)
	f.Fuzz(func(t *testing.T, text string) {
		groups, err := osm.ReadGroups(strings.NewReader(text), "g")
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		_ = osm.WriteGroups(&once, groups)
		again, err := osm.ReadGroups(bytes.NewReader(once.Bytes()), "g")
		if err != nil {
			t.Fatal(err)
		}
		_ = osm.WriteGroups(&twice, again)
		if once.String() != twice.String() {
			t.Errorf("%q becomes %q", &once, &twice)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/classify"
)

// TestVendorConf reads confs of NVIDIA's OpenSM, written by hand after its published options and defaults.
func TestVendorConf(t *testing.T) {
	all := adaptive.Always
	for name, k := range map[string]struct {
		conf   string
		shape  classify.Shape
		chain  string
		groups GroupKind // of the first engine
		how    adaptive.How
		notes  []string // parts of them
		not    []string
	}{
		"ar_updn": {conf: "routing_engine ar_updn\nar_mode 1\nshield_mode 2\nar_sl_mask 0x3\n", chain: "updn",
			groups: TreeGroups,
			how:    adaptive.How{SLs: 3, FastReroute: true}, notes: []string{"ar_updn: taken for updn by its name",
				"unproved until calibrate agrees"}, not: []string{"OpenSM 3.3.23", "without effect"}},
		"off": {conf: "routing_engine ar_updn\nar_mode 0\n", chain: "updn", groups: NoGroups, how: all},
		"last": {
			conf: "routing_engine ar_updn\nar_mode 0\nar_mode 3\n", chain: "updn", groups: TreeGroups, how: all,
		},
		"links": {conf: "routing_engine ar_dor\n", chain: "dor", groups: LinkGroups, how: all},
		"torus": {
			conf: "routing_engine ar_torus,no_fallback\n", chain: "torus-2QoS,no_fallback",
			groups: LinkGroups, how: all,
		},
		"minhop": {
			conf: "routing_engine ar_minhop\n", chain: "minhop", groups: NoGroups, how: all,
			notes: []string{"not published"},
		},
		"chain": {conf: "routing_engine dfp2,ar_ftree,kdor-hc,pqft,updn,ar_updn\n", chain: "ftree,updn",
			groups: TreeGroups, how: all, notes: []string{`"dfp2" of NVIDIA's OpenSM is not modelled`,
				`"kdor-hc" of NVIDIA's OpenSM is not`,
				`"pqft" of NVIDIA's OpenSM is not`}},
		"names": {
			conf: "routing_engine fat-tree,torus2qos,xyz123,min-hop\n", chain: "minhop", groups: NoGroups, how: all,
			notes: []string{
				`OpenSM has no engine "fat-tree" (did you mean ftree?)`, `"torus2qos" (did you mean torus-2QoS?)`,
				`"xyz123"; it logs an error and tries the next engine, the last is minhop`,
			},
			not: []string{"NVIDIA", "estimate"},
		},
		"default": {
			conf: "# nothing\n\npfrn_sl 2\n", chain: "updn", groups: TreeGroups, how: all,
			notes: []string{
				"it names no routing_engine, and pfrn_sl on line 3", "without effect here: pfrn_sl (line 3)",
			},
		},
		"others": {conf: "lmc 0\n", chain: "minhop", groups: NoGroups, how: all, not: []string{"NVIDIA"}},
		"tree": {conf: "routing_engine auto\n", shape: classify.FatTree, chain: "updn", groups: TreeGroups, how: all,
			notes: []string{"auto is taken for ar_updn, as the subnet is recognized as fat-tree"}},
		"dfp": {conf: "routing_engine auto\n", shape: classify.DragonflyPlus, chain: "minhop", groups: NoGroups,
			how: all, notes: []string{`"dfp" of NVIDIA's OpenSM is not modelled`}},
		"neither": {conf: "routing_engine auto\n", shape: classify.Torus, chain: "minhop", groups: NoGroups, how: all,
			notes: []string{"this subnet is recognized as torus", `"auto" of NVIDIA's OpenSM is not modelled`}},
		"unknown": {conf: "routing_engine updn\nfoo 1\nhbf_hash_type 0\nbar\nfoo 2\n", chain: "updn",
			groups: NoGroups, how: all,
			notes: []string{
				"nor known ones of NVIDIA's: foo (line 2), bar (line 4)\n",
				"without effect here: hbf_hash_type (line 3)\n",
			}},
		"planes": {conf: "routing_engine ar_updn\nplanarized_routing_enabled TRUE\n", chain: "updn", groups: TreeGroups,
			how: all, notes: []string{"opensm.conf:2: planarized_routing_enabled needs a root_guid_file"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "opensm.conf")
			if err := os.WriteFile(path, []byte(k.conf), 0o600); err != nil {
				t.Fatal(err)
			}
			around := Around{CacheDir: t.TempDir(), Shape: func() classify.Shape { return k.shape }}
			set, err := ReadConf(t.Context(), path, around, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			groups, how := set.Groups(set.Chain[0])
			if set.String() != k.chain || groups != k.groups || how != k.how {
				t.Errorf("chain %s, groups %d, %+v; want %s, %d, %+v", set.String(), groups, how, k.chain,
					k.groups, k.how)
			}
			notes := strings.Join(set.Notes, "\n") + "\n"
			for _, want := range k.notes {
				if strings.Count(notes, want) != 1 {
					t.Errorf("notes have %q %d times:\n%s", want, strings.Count(notes, want), notes)
				}
			}
			for _, not := range k.not {
				if strings.Contains(notes, not) {
					t.Errorf("notes have %q:\n%s", not, notes)
				}
			}
		})
	}
}

// TestPortGroupsAsRoots: NVIDIA's OpenSM permits names of port groups in a file of roots. Without a policy of port
// groups such a file is a broken one, as for OpenSM 3.3.23.
func TestPortGroupsAsRoots(t *testing.T) {
	const policy = "pgrp_policy_file groups.conf\n"
	for _, k := range []struct {
		conf, roots, want, not string
	}{
		{policy, "spines\n", "names port groups of pgrp_policy_file", "OpenSM reads no further"},
		{"", "spines\n", "OpenSM reads no further", "port groups"},
		{policy, "0x1\nspines\n", "OpenSM reads no further", "port groups"},
		{policy, "0x1\n", "without effect here: pgrp_policy_file (line 1)", "port groups"},
	} {
		dir := t.TempDir()
		path, roots := filepath.Join(dir, "opensm.conf"), filepath.Join(dir, "roots")
		for file, text := range map[string]string{
			path: k.conf + "routing_engine updn\nroot_guid_file " + roots + "\n", roots: k.roots,
		} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		set, err := ReadConf(t.Context(), path, Around{CacheDir: dir}, nil, nil)
		notes := strings.Join(set.Notes, "\n")
		if err != nil || !strings.Contains(notes, k.want) || strings.Contains(notes, k.not) {
			t.Errorf("conf %q, roots %q: error %v, notes:\n%s\nwant %q, not %q", k.conf, k.roots, err, notes, k.want,
				k.not)
		}
	}
}

// TestVendorValues: a value that cannot be is an error with its line and what was expected.
func TestVendorValues(t *testing.T) {
	for conf, want := range map[string]string{
		"ar_mode 4":                      `:2: ar_mode: "4", expected 0 to 3`,
		"shield_mode on":                 `:2: shield_mode: "on", expected 0 to 3`,
		"ar_sl_mask 0x10000":             `:2: ar_sl_mask: "0x10000", expected 0 to 0xffff`,
		"pfrn_sl 16":                     `:2: pfrn_sl: "16", expected 0 to 15`,
		"enable_ar_by_device_cap \x1b[m": `:2: enable_ar_by_device_cap: "\x1b[m", expected TRUE or FALSE`,
	} {
		path := filepath.Join(t.TempDir(), "opensm.conf")
		if err := os.WriteFile(path, []byte("lmc 0\n"+conf+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadConf(t.Context(), path, Around{}, nil, nil)
		if got := fmt.Sprint(err); got != path+want {
			t.Errorf("%q: %s, want %s", conf, got, path+want)
		}
	}
}

// TestRootRanks: roots of one rank are roots; ranks that differ are not modelled, which is said for an engine of
// NVIDIA's alone.
func TestRootRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roots")
	for _, k := range []struct {
		engine, text string
		want         bool
	}{{"ar_updn", "0x1 0\n0x2 1\n", true}, {"ar_updn", "0x1 2\n0x2 2\n", false}, {"ar_updn", "0x1\n0x2\n", false},
		{"updn", "0x1 0\n0x2 1\n", false}} {
		if err := os.WriteFile(path, []byte(k.text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := Parse(t.Context(), []string{k.engine}, []Setting{{"root_guid_file", path}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(set.Notes, "\n"), path+": the ranks of its roots differ"); got !=
			k.want {
			t.Errorf("%s, %q: said %v, want %v: %q", k.engine, k.text, got, k.want, set.Notes)
		}
	}
}

// TestGroupsOfOthers: an engine that routes in place of those of the chain makes no groups; tables that are adapted or
// kept go by the first one.
func TestGroupsOfOthers(t *testing.T) {
	set, err := Parse(t.Context(), []string{"ar_updn"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for engine, want := range map[string]GroupKind{"updn": TreeGroups, "minhop": NoGroups, "incremental": TreeGroups} {
		if got, _ := set.Groups(engine); got != want {
			t.Errorf("%s: groups %d, want %d", engine, got, want)
		}
	}
}

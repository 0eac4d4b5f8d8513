// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

const torus3x3 = "torus 3t 3t 1t\nxp_link 0x200000 0x200003\nxm_link 0x200000 0x200006\n" +
	"yp_link 0x200000 0x200001\nym_link 0x200000 0x200002\n"

// TestTorusNotesEqualOpenSM compares the notes on VL arbitration and on numbers of VLs with the warnings in the log of
// OpenSM's torus-2QoS, on random options.
func TestTorusNotesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 60) {
		text := randomQoS(r)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := t.TempDir()
			write := func(name string, content []byte) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			var net strings.Builder
			if err := gen.WriteNet(&net, gentest.Fabric(t, "torus:3x3")); err != nil {
				t.Fatal(err)
			}
			conf := write("opensm.conf", []byte("qos TRUE\nrouting_engine torus-2QoS\ntorus_config "+
				write("torus", []byte(torus3x3))+"\n"+text))
			sim := ibsimtest.Start(t, write("net", []byte(net.String())))
			log, err := os.ReadFile(filepath.Join(ibsimtest.OpenSM(t, sim, "-F", conf), "opensm.log"))
			if err != nil {
				t.Fatal(err)
			}
			set, err := ReadConf(t.Context(), conf, Around{}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := notesOfTorus(set.Notes), warningsOfTorus(string(log)); !slices.Equal(got, want) {
				t.Errorf("%s\nnotes %q\nare %q, OpenSM warns of %q", text, set.Notes, got, want)
			}
		})
	}
}

var (
	unequal    = regexp.MustCompile(`same VLarb weights .* not true for (default|configured) qos\w*_vlarb_(\w+)`)
	notZero    = regexp.MustCompile(`0 VLarb weights .* (qos_\w+_vlarb_\w+)\n`)
	tooFew     = regexp.MustCompile(`functionality not available for configured (qos\w*_max_vls)`)
	ofEndPorts = regexp.MustCompile(`qos_(?:ca|sw0|rtr)_vlarb_\w+`)
	ofSwitches = regexp.MustCompile(`qos_swe_vlarb_(\w+)(.*): the weights`)
	maxVLs     = regexp.MustCompile(`(qos_\w+_max_vls)( \(from qos_max_vls\))?: \d+ VLs`)
)

// warningsOfTorus returns the warnings of a log of OpenSM, each once.
func warningsOfTorus(log string) (all []string) {
	for _, m := range unequal.FindAllStringSubmatch(log, -1) {
		all = append(all, "unequal "+m[1]+" "+m[2])
	}
	for _, m := range notZero.FindAllStringSubmatch(log, -1) {
		all = append(all, "not zero "+m[1])
	}
	for _, m := range tooFew.FindAllStringSubmatch(log, -1) {
		all = append(all, "too few "+m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// notesOfTorus returns the same of notes.
func notesOfTorus(notes []string) (all []string) {
	for _, n := range notes {
		if m := ofSwitches.FindStringSubmatch(n); m != nil {
			origin := map[bool]string{true: "default ", false: "configured "}[m[2] == " (default)"]
			all = append(all, "unequal "+origin+m[1])
		}
		if strings.Contains(n, "VLs 2 to 7 have weights") {
			for _, option := range ofEndPorts.FindAllString(n, -1) {
				all = append(all, "not zero "+option)
			}
		}
		if m := maxVLs.FindStringSubmatch(n); m != nil {
			all = append(all, "too few "+map[bool]string{true: "qos_max_vls", false: m[1]}[m[2] != ""])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// randomQoS returns random lines of an opensm.conf, of which some are right for torus-2QoS.
func randomQoS(r *rand.Rand) string {
	var b strings.Builder
	for _, ports := range []string{"qos", "qos_swe", "qos_ca", "qos_sw0", "qos_rtr"} {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "%s_max_vls %d\n", ports, r.IntN(17))
		}
		for _, table := range []string{"high", "low"} {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "%s_vlarb_%s %s\n", ports, table, randomVLArb(r))
			}
		}
	}
	return b.String()
}

func randomVLArb(r *rand.Rand) string {
	weights := [2]int{r.IntN(3) * 64, r.IntN(3) * 64}
	var entries []string
	for vl := range []int{2, 8, 15, 40}[r.IntN(4)] {
		weight := weights[min(vl/4, 1)]
		if r.IntN(20) == 0 {
			weight = r.IntN(300)
		}
		entries = append(entries, fmt.Sprintf("%d:%d", vl%16, weight))
	}
	if r.IntN(8) == 0 { // entries that OpenSM reads all the same, or differently
		entries[r.IntN(len(entries))] = []string{"0x3:010", "3", "x:4", "", "-1:4", "5: 6", "7;9"}[r.IntN(7)]
	}
	return strings.Join(entries, ",")
}

// TestGroupSL checks the SLs that a partition file gives to multicast groups, by hand.
func TestGroupSL(t *testing.T) {
	broadcast := mad.GID{0xff, 0x12, 0x40, 0x1b, 0x80, 0x21}
	for _, c := range []struct {
		file  string
		group fabric.Group
		sl    uint8
		known bool
	}{
		{"Default=0x7fff, sl=3 : ALL=full ;\n", fabric.Group{}, 3, true},
		{"Default=0x7fff, sl=3 : ALL=full ;\nA=0x21, sl=5 : ALL=full ;\n", fabric.Group{}, 0, false},
		{"Default=0x7fff, sl=3 : ALL=full ;\nA=0x21, sl=5 : ALL=full ;\n", fabric.Group{PKey: 0xffff}, 3, true},
		{"Default=0x7fff, sl=3 : ALL=full ;\nA=0x21, sl=5 : ALL=full ;\n", fabric.Group{MGID: broadcast}, 5, true},
		{"Default=0x7fff, sl=3 : ALL=full ;\n", fabric.Group{PKey: 0x21}, 0, false},
		{"Default=0x7fff, sl=3 :\n mgid=ff12:401b::1, sl=2 ;\nDefault=0x7fff, sl=3 : ALL=full;\n",
			fabric.Group{}, 0, false},
	} {
		file := filepath.Join(t.TempDir(), "partitions")
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := Parse(t.Context(), nil, []Setting{{partitionFile, file}})
		if err != nil {
			t.Fatal(err)
		}
		sl, known := set.GroupSL(set.Partitions(gentest.Fabric(t, "fattree:2,4")), &c.group)
		if known != c.known || known && sl != c.sl {
			t.Errorf("%q, %+v: SL %d, known %v", c.file, c.group, sl, known)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/sa"
)

// someMembers are partitions in OpenSM's form: two hosts that are full members and two that are limited ones, and all
// hosts in another one, of the second level of torus-2QoS. They use the port GUIDs of node-0001 to node-0003 and
// node-0019 in ibsim and in sim:.
const someMembers = `# Members
Default=0x7fff, ipoib : ALL=full ;
Fast=0x21, sl=8, defmember=full : 0x100001, 0x100025, # the last of the line
    0x100003=limited, 0x100005=lim ;
0x0100 , sl=8 : ALL_CAS=f ;
`

// TestGrantsOfOpenSM compares the SLs of paths, for requests with a partition or an SL, with the responses of OpenSM's
// subnet administration, for the live subnet and for a routing that is not written.
func TestGrantsOfOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, engine := range []string{"torus-2QoS", "lash", "minhop"}[:testenv.Count(t, 2, 3)] {
		t.Run(engine, func(t *testing.T) {
			h := routedTorus(t, engine, true, true, "partition_config_file "+write(t, someMembers)+"\n")
			transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: h.sim.Name})
			if err != nil {
				t.Fatal(err)
			}
			client, err := mad.NewClient(transport, mad.ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			c, err := sa.New(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			known := "engine from=" + h.conf + "; calibrate; "
			if r := try("--json", "-s", h.source, "-c", known); !strings.Contains(r.out, `"sls_taken":true`) {
				t.Errorf("OpenSM grants other SLs: %s%s", r.out, r.err)
			}
			grants := 0
			for _, ask := range []string{"", "pkey=0x21", "pkey=0x8100", "sl=0", "sl=2", "sl=8", "sl=10",
				"sl=5 pkey=0x21"} {
				script := known + "route keep=no"
				for _, of := range []string{"live", "staged"} {
					script += fmt.Sprintf("; show sl node-0001 all of=%[1]s %[2]s; show sl node-0002 all "+
						"of=%[1]s %[2]s", of, ask)
				}
				n := sameGrants(t, c, ask, objects(t, try("--json", "-s", h.source, "-c", script)))
				if grants += n; ask == "" && n != 2*2*29 {
					t.Errorf("%d of 29 hosts for each of two, live and staged", n)
				}
			}
			if grants == 0 {
				t.Error("nothing was granted")
			}
		})
	}
}

// sameGrants compares the output of show sl for hosts with the path records, and counts these.
func sameGrants(t *testing.T, c *sa.Client, ask string, rows []map[string]any) (grants int) {
	t.Helper()
	// as OpenSM gives LIDs, in the order of its sweep
	sources := map[string]uint16{"node-0001 HCA-1": 1, "node-0002 HCA-1": 5}
	for _, r := range rows {
		from, to := placeName(r["from"]), placeName(r["to"])
		if r["kind"] != "paths" || !strings.HasPrefix(to, "node-") {
			continue
		}
		q := sa.PathRecord{SLID: sources[from], DLID: uint16(r["lid"].(float64)), NumPath: 1}
		mask := sa.PathSLID | sa.PathDLID | sa.PathNumPath
		for word := range strings.FieldsSeq(ask) {
			var n uint16
			if _, err := fmt.Sscanf(word, "pkey=%v", &n); err == nil {
				q.PKey, mask = mad.PKey(n)|mad.PKeyFull, mask|sa.PathPKey
			}
			if _, err := fmt.Sscanf(word, "sl=%d", &q.SL); err == nil {
				mask |= sa.PathSL
			}
		}
		record, err := sa.Get(t.Context(), c, q, mask)
		switch {
		case errors.Is(err, sa.NoRecords) && r["sl"] == nil && r["error"] != nil:
		case err == nil && r["sl"] == float64(record.SL):
			grants++
		default:
			t.Errorf("%q: %v; OpenSM: SL %d, P_Key %v, %v", ask, r, record.SL, record.PKey, err)
		}
	}
	return grants
}

// placeName returns the name of the node of a place.
func placeName(place any) string {
	o, _ := place.(map[string]any)
	name, _ := o["name"].(string)
	return name
}

// slOf returns the service level in the last answer of a run, which is in its row or, without rows, in the answer.
func slOf(t *testing.T, r result) any {
	t.Helper()
	all := slices.DeleteFunc(objects(t, r), func(o map[string]any) bool { return o["kind"] == "end" })
	return all[len(all)-1]["sl"]
}

// TestBothLevelsOffline checks both levels of quality of service of torus-2QoS without a live subnet. Expected SLs and
// VLs are by hand, from torus-2QoS(8): bit 0 for the dateline of x, which the path from sw-0-0 to sw-5-0 crosses, bit 3
// for the level, whose VLs are those from 4 on.
func TestBothLevelsOffline(t *testing.T) {
	const pair = "node-0001 node-0026 "
	paper := "engine torus-2QoS partition_config_file=" + write(t, someMembers+"Far=0x30, sl=8 : ALL_CAS=full;\n") +
		"; route; "
	ask := func(script string) result { return try("--json", "-s", "sim:torus:6x5", "-c", paper+script) }
	last := func(script string) map[string]any { return object(t, ask(script)) }
	for which, want := range map[string]any{"pkey=0x7fff": 1.0, "sl=1": 1.0, "pkey=0x30": 9.0, "sl=9": 9.0} {
		for _, c := range []string{"show sl ", "trace ", "paths query "} {
			if got := slOf(t, ask(c+pair+which)); got != want {
				t.Errorf("%s %s: SL %v, want %v", c, which, got, want)
			}
		}
		vl := last("trace " + pair + which)["hops"].([]any)[1].(map[string]any)["vl"]
		if second := want == 9.0; vl.(float64) >= 4 != second {
			t.Errorf("%s: VL %v between switches", which, vl)
		}
		if o := last("check credits " + which); o["loop"] != false || o["channels"] == 0.0 {
			t.Errorf("check credits %s: %v", which, o)
		}
	}
	for _, ask := range []string{"sl=0", "sl=8", "sl=2"} {
		for _, c := range []string{"show sl ", "trace ", "paths query "} {
			r := try("-s", "sim:torus:6x5", "-c", paper+c+pair+ask)
			if r.status != exitFailed || !strings.Contains(r.err, "no path ") {
				t.Errorf("%s %s: status %d: %s%s", c, ask, r.status, r.out, r.err)
			}
		}
	}
	// All paths have one SL of each level.
	for _, level := range []int{0, 8} {
		sum := 0.0
		for sl := level; sl < level+8; sl++ {
			sum += last(fmt.Sprintf("check load sl=%d", sl))["paths"].(float64)
		}
		if sum != 30*29 {
			t.Errorf("level %d: %v paths, want %d", level, sum, 30*29)
		}
	}
	if n := last("check load pkey=0x21")["paths"]; n != 10.0 { // 4 x 3 without those between the two limited members
		t.Errorf("%v paths of the partition of two full and two limited members", n)
	}
	// If the engine assigns no SLs, every requested one is granted.
	r := try("--json", "-s", "sim:torus:6x5", "-c", "engine minhop; route; paths query "+pair+"sl=5; show sl "+
		pair+"sl=5")
	for _, o := range objects(t, r)[2:] {
		if _, has := o["sl"]; (has || o["kind"] == "paths") && o["sl"] != 5.0 {
			t.Errorf("minhop: %v%s", o, r.err)
		}
	}
}

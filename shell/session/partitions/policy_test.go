// SPDX-License-Identifier: Apache-2.0

package partitions_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/osm/qospolicy"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session/partitions"
)

// policyEngines are the engines whose path records are compared. dfsssp draws the SL of each record from a range, and
// refuses a request for another SL than the drawn one.
var policyEngines = []string{"minhop", "lash", "nue", "torus-2QoS", "sssp", "dfsssp"}

// TestPolicyEqualsOpenSM compares the SLs of paths by random policies with the path records of OpenSM, for requests
// with and without P_Keys, SLs, service IDs and QoS classes, and which policies both reject.
func TestPolicyEqualsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	var total policyCounts
	for i := range testenv.Count(t, 12, 600) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			total.add(runPolicy(t, rand.New(rand.NewPCG(seed, 7)), policyEngines[i%len(policyEngines)]))
		})
	}
	t.Logf("%+v", total)
	if total.granted == 0 || total.refused == 0 || total.rejected == 0 {
		t.Errorf("%+v, want some of each", total)
	}
}

// policyCounts counts path records and rejected policies.
type policyCounts struct{ granted, refused, rejected int }

func (c *policyCounts) add(o policyCounts) {
	c.granted, c.refused, c.rejected = c.granted+o.granted, c.refused+o.refused, c.rejected+o.rejected
}

const policyTorus = "torus 3t 3t 1t\nxp_link 0x200000 0x200003\nxm_link 0x200000 0x200006\n" +
	"yp_link 0x200000 0x200001\nym_link 0x200000 0x200002\n"

var policyErrors = regexp.MustCompile(`ERR AC0[34]: .*`)

func runPolicy(t *testing.T, r *rand.Rand, engine string) (n policyCounts) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var net bytes.Buffer
	paper := gentest.Fabric(t, "torus:3x3")
	if err := gen.WriteNet(&net, paper); err != nil {
		t.Fatal(err)
	}
	members := randomPartitions(r, paper)
	text := randomPolicy(r, paper)
	sim := ibsimtest.Start(t, write("net", net.String()))
	logs := ibsimtest.Master(t, sim, "-F", write("opensm.conf", fmt.Sprintf("force_log_flush TRUE\nqos TRUE\n"+
		"sweep_interval 0\nrouting_engine %s\ntorus_config %s\npartition_config_file %s\nqos_policy_file %s\n", engine,
		write("torus", policyTorus), write("partitions", members), write("policy", text))))
	log, err := os.ReadFile(filepath.Join(logs, "opensm.log"))
	if err != nil {
		t.Fatal(err)
	}
	client := ibsimtest.Client(t, sim, "")
	known, f, rejected := knownOf(t, client, members, text)
	if theirs := policyErrors.Find(log); (theirs != nil) != (rejected != nil) {
		t.Fatalf("%s\nOpenSM says %q, we say %v", numbered(text), theirs, rejected)
	}
	if rejected != nil {
		n.rejected++
		t.Log(rejected)
	}
	tables := tablesOf(t, f, engine)
	admin, err := sa.New(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for range 80 {
		q, mask, asked := randomRequest(r, f)
		record, err := sa.Get(t.Context(), admin, q, mask)
		g, ours := partitions.New(tables, known, asked)
		var grant partitions.Grant
		if ours == nil {
			grant, ours = g.Of(f.PortByLID(q.SLID), q.DLID)
		}
		switch {
		case errors.Is(err, sa.NoRecords) && (ours != nil || engine == "dfsssp" && asked.SL >= 0):
			n.refused++
		case err == nil && ours == nil && grant.SLs.Has(record.SL) && (engine == "dfsssp" || grant.SLs.N == 1):
			n.granted++
		default:
			t.Fatalf("%s\n%s\n%s: %s to LID %d, %+v: OpenSM grants SL %d, %v; we %s, %v", members, numbered(text),
				engine, f.PortName(f.PortByLID(q.SLID)), q.DLID, asked, record.SL, err, grant.SLs, ours)
		}
	}
	return n
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, line)
	}
	return b.String()
}

// knownOf sweeps the subnet and reads the partitions and the policy for it. rejected is why a policy is rejected.
func knownOf(t *testing.T, client *mad.Client, members, text string) (known partitions.Known, f *fabric.Fabric,
	rejected error) {
	t.Helper()
	live, err := sweep.Full(t.Context(), client, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f = live.Fabric
	file, err := osm.ReadPartitions(strings.NewReader(members), "partitions")
	if err != nil {
		t.Fatal(err)
	}
	all := file.Of(f)
	known.Keys, known.SLs = osm.PKeys(f, all), map[uint16]uint8{}
	for i := range all {
		known.SLs[all[i].Number] = all[i].SL
	}
	policy, rejected := qospolicy.Read(strings.NewReader(text), "policy")
	if rejected == nil {
		known.Policy, rejected = policy.On(f, all)
	}
	return known, f, rejected
}

func tablesOf(t *testing.T, f *fabric.Fabric, engine string) *fabric.Tables {
	t.Helper()
	conf, err := osm.ReadTorusConf(strings.NewReader(policyTorus), "torus")
	if err != nil {
		t.Fatal(err)
	}
	chain, err := engines.Chain([]string{engine, engines.NoFallback}, torus.Engine{Conf: conf})
	if err != nil {
		t.Fatal(err)
	}
	res, _, err := engines.Try(context.Background(), chain, f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// randomRequest returns a request for a path between different end ports.
func randomRequest(r *rand.Rand, f *fabric.Fabric) (q sa.PathRecord, mask sa.Mask, asked partitions.Asked) {
	ends := slices.Clone(f.EndPorts)
	r.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	q = sa.PathRecord{SLID: f.Ports[ends[0]].LID, DLID: f.Ports[ends[1]].LID, NumPath: 1}
	mask, asked = sa.PathSLID|sa.PathDLID|sa.PathNumPath, partitions.Asked{SL: -1}
	if r.IntN(3) == 0 {
		q.PKey = mad.PKeyFull | mad.PKey([]uint16{0x7fff, 0x21, 0x100, 0x55}[r.IntN(4)])
		asked.PKey, mask = q.PKey, mask|sa.PathPKey
	}
	if r.IntN(4) == 0 {
		q.SL = uint8(r.IntN(16))
		asked.SL, mask = int(q.SL), mask|sa.PathSL
	}
	if r.IntN(3) == 0 {
		q.ServiceID = []uint64{0x10000, 0x10000 + 900, 0x1060000 + 0x48ca, 0x1060000 + 0x0cbc, 22, 4800}[r.IntN(6)]
		asked.ServiceID, mask = &q.ServiceID, mask|sa.PathServiceID
	}
	if r.IntN(3) == 0 {
		q.QoSClass = uint16(r.IntN(12))
		asked.Class, mask = &q.QoSClass, mask|sa.PathQoSClass
	}
	return q, mask, asked
}

// randomPartitions returns a partitions.conf with up to three partitions.
func randomPartitions(r *rand.Rand, f *fabric.Fabric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Default=0x7fff, ipoib, sl=%d : ALL=%s, SELF=full ;\n", r.IntN(16),
		[]string{"full", "full", "limited"}[r.IntN(3)])
	for _, name := range []string{"Fast=0x21", "Slow=0x100"} {
		var of []string
		for _, e := range f.EndPorts {
			if r.IntN(2) == 0 {
				of = append(of, fmt.Sprintf("0x%x=%s", f.Ports[e].GUID, []string{"full", "limited"}[r.IntN(2)]))
			}
		}
		if of != nil && r.IntN(4) > 0 {
			fmt.Fprintf(&b, "%s, sl=%d : %s ;\n", name, r.IntN(16), strings.Join(of, ", "))
		}
	}
	return b.String()
}

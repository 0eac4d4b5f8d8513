// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// lidCase is a subnet, the LIDs of its ports, and the options with which OpenSM starts.
type lidCase struct {
	fabric   *fabric.Fabric
	claims   []fabric.LIDClaim
	guid2lid []byte
	lmc      uint8
	esp0     bool
	reassign bool
	// stay sets exit_on_fatal FALSE.
	stay bool
}

// TestAssignLIDsAsOpenSM compares assignments with those of a real OpenSM on ibsim: its file guid2lid, the LIDs and
// LMCs of all ports, and the highest LID in its tables.
func TestAssignLIDsAsOpenSM(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 30, 400) {
		c := randomLIDCase(t, rnd)
		t.Run(fmt.Sprintf("%d-lmc%d-esp0=%v-reassign=%v", i, c.lmc, c.esp0, c.reassign), func(t *testing.T) {
			c.compare(t)
		})
	}
}

// TestTooFewLIDsAsOpenSM has more ports than there are ranges of 128 LIDs.
func TestTooFewLIDsAsOpenSM(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,28")
	if err != nil {
		t.Fatal(err)
	}
	c := lidCase{fabric: f, claims: make([]fabric.LIDClaim, len(f.EndPorts)), lmc: 7}
	for i := range 40 { // keys that OpenSM does not drop; their bytes are negative in OpenSM's hash
		c.guid2lid = fmt.Appendf(c.guid2lid, "%d\xff\xfe%c 0x0001 0x0001\n\n", i+1, 0x80+i)
	}
	if a := c.compare(t); a != nil && a.LIDs[len(a.LIDs)-1].Min != 0 {
		t.Error("the last port has LIDs, so the case does not have too few LIDs")
	}
}

func randomLIDCase(t *testing.T, rnd *rand.Rand) lidCase {
	c := lidCase{
		fabric: randomSubnet(t, rnd), esp0: rnd.IntN(2) == 0, reassign: rnd.IntN(8) == 0, stay: rnd.IntN(2) == 0,
	}
	c.lmc = []uint8{0, 0, 0, 1, 1, 2, 3, 3, 7}[rnd.IntN(9)]
	c.claims = make([]fabric.LIDClaim, len(c.fabric.EndPorts))
	claimed := rnd.IntN(3)
	top := (len(c.claims) + 4) << c.lmc
	for i := range c.claims {
		if claimed == 0 || rnd.IntN(3) < claimed {
			continue
		}
		c.claims[i] = fabric.LIDClaim{LID: uint16(1 + rnd.IntN(top)), LMC: uint8(max(0, rnd.IntN(7)-3))}
		switch rnd.IntN(12) {
		case 0:
			c.claims[i].LID = uint16(0xBF70 + rnd.IntN(0x100))
		case 1, 2, 3, 4, 5:
			c.claims[i].LID = min(c.claims[i].LID<<c.lmc, 0xBFFF)
		}
	}
	if rnd.IntN(3) > 0 {
		c.guid2lid = randomGUID2LID(rnd, &c)
	}
	return c
}

// randomSubnet returns a tree of a few switches with additional links, some with an enhanced port 0, and channel
// adapters with one or two ports.
func randomSubnet(t *testing.T, rnd *rand.Rand) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	switches, hosts := 1+rnd.IntN(6), 1+rnd.IntN(14)
	order := rnd.Perm(switches + hosts)
	guid := func(i int) uint64 {
		return uint64(rnd.IntN(3))<<56 | uint64(rnd.IntN(2))<<32 | uint64(order[i]+1)<<8
	}
	const ports = 24
	next := make([]int, switches)
	add := func(n fabric.Node) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for p := 1; n.Type == mad.NodeCA && p <= int(n.NumPorts); p++ {
			b.Port(i, p).GUID = n.GUID + uint64(p)
		}
		return i
	}
	var nodes []fabric.NodeIndex
	link := func(node fabric.NodeIndex, port, sw int) {
		next[sw]++
		if err := b.Connect(node, port, nodes[sw], next[sw]); err != nil {
			t.Fatal(err)
		}
	}
	firstIsHost := rnd.IntN(2) == 0
	var early fabric.NodeIndex
	if firstIsHost {
		early = add(fabric.Node{GUID: guid(switches), Type: mad.NodeCA, NumPorts: 1, Desc: "sm"})
	}
	for i := range switches {
		nodes = append(nodes, add(fabric.Node{
			GUID: guid(i), Type: mad.NodeSwitch, NumPorts: ports, Desc: fmt.Sprint("s", i),
			EnhancedPort0: rnd.IntN(2) == 0,
		}))
		if i > 0 {
			from := rnd.IntN(i)
			next[i]++
			link(nodes[i], next[i], from)
		}
	}
	for range rnd.IntN(3) {
		if x, y := rnd.IntN(switches), rnd.IntN(switches); x != y {
			next[x]++
			link(nodes[x], next[x], y)
		}
	}
	for i := range hosts {
		host := early
		if i > 0 || !firstIsHost {
			host = add(fabric.Node{GUID: guid(switches + i), Type: mad.NodeCA, NumPorts: uint8(1 + rnd.IntN(2)),
				Desc: fmt.Sprint("h", i)})
		}
		link(host, 1, rnd.IntN(switches))
		if b.Node(host).NumPorts == 2 && rnd.IntN(2) == 0 {
			link(host, 2, rnd.IntN(switches))
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// randomGUID2LID returns a guid2lid file for ports of the subnet and others. Some records conflict, do not fit the LMC
// or are malformed.
func randomGUID2LID(rnd *rand.Rand, c *lidCase) []byte {
	var b bytes.Buffer
	width := 1 << c.lmc
	sound := rnd.IntN(2) == 0
	for range 1 + rnd.IntN(2*len(c.claims)) {
		guid := c.fabric.Ports[c.fabric.EndPorts[rnd.IntN(len(c.claims))]].GUID
		if rnd.IntN(4) == 0 {
			guid = rnd.Uint64()
		}
		low := (1 + rnd.IntN(len(c.claims)+4)) * width
		high := low + width - 1
		key := fmt.Sprintf("0x%016x", guid)
		value := fmt.Sprintf("0x%04x 0x%04x", low, high)
		end := "\n\n"
		if !sound {
			switch rnd.IntN(12) {
			case 0:
				value = fmt.Sprintf("0x%04x 0x%04x", low+rnd.IntN(4), high+rnd.IntN(5)-2)
			case 1:
				value = fmt.Sprintf("0x%04x 0x%04x", low, low)
			case 2:
				value = fmt.Sprintf("%d %d junk", low, high)
			case 3:
				value = []string{"", "5", "0xc000 0xc001", "x y", "0 0", "-1 4", " 0x0008  0x000f", "0xbfff 0xbfff",
					"9 4"}[rnd.IntN(9)]
			case 4:
				key = []string{
					fmt.Sprintf("0x%x", guid), strconv.FormatUint(guid, 10), "0", "junk", "0x0000000000000000", "-4",
					"7\xff\xfe",
				}[rnd.IntN(7)]
			case 5:
				end = []string{"\n", "\r\n\r\n", "\n\n\n", "\n" + strings.Repeat("z", 1100) + "\n\n"}[rnd.IntN(4)]
			}
		}
		fmt.Fprintf(&b, "%s %s%s", key, value, end)
	}
	if !sound && rnd.IntN(12) == 0 {
		fmt.Fprintf(&b, "\t0x1 0x2 0x3\n\n")
	}
	return b.Bytes()
}

// compare assigns LIDs, lets OpenSM do the same, and returns the assignment if OpenSM started.
func (c *lidCase) compare(t *testing.T) *fabric.LIDAssignment {
	t.Helper()
	s, dir := c.start(t)
	return c.sweep(t, s, dir)
}

func (c *lidCase) sweep(t *testing.T, s *ibsimtest.Sim, dir string) *fabric.LIDAssignment {
	t.Helper()
	file, refused := osm.ReadGUID2LID(bytes.NewReader(c.guid2lid), "guid2lid")
	a, err := fabric.AssignLIDsWith(c.fabric, fabric.LIDOptions{
		LMC: c.lmc, LMCESP0: c.esp0, Reassign: c.reassign, GUID2LID: file.Table, Claims: c.claims,
	})
	var twice *fabric.PortError
	if err != nil && !errors.Is(err, fabric.ErrNoLIDs) && !errors.As(err, &twice) {
		t.Fatal(err)
	}
	started := c.runOpenSM(t, s, dir)
	if refused != nil && !c.reassign && !c.stay {
		if started {
			t.Errorf("OpenSM accepts guid2lid, we report %v:\n%s", refused, c)
		}
		return nil
	}
	if !started {
		t.Fatalf("OpenSM refuses guid2lid, we accept it\n%s", c)
	}
	c.compareGUID2LID(t, dir, a)
	switch {
	case a.Fabric == nil:
		t.Logf("two ports have one LID, as OpenSM assigns it: %v", twice)
	case bytes.Contains(readFile(t, dir, "opensm.log"), []byte("ERR 3322")):
		c.settle(t, s, dir)
	default:
		c.comparePorts(t, s, a)
		if err == nil {
			c.compareDumps(t, dir, a)
		}
	}
	return a
}

func (c *lidCase) compareGUID2LID(t *testing.T, dir string, a *fabric.LIDAssignment) {
	t.Helper()
	want := c.guid2lid
	if a.Written {
		var b bytes.Buffer
		if err := osm.WriteGUID2LID(&b, a.GUID2LID); err != nil {
			t.Fatal(err)
		}
		want = b.Bytes()
	}
	if got := readFile(t, dir, "guid2lid"); !bytes.Equal(got, want) {
		t.Fatalf("OpenSM leaves guid2lid\n%s\nwe write %v\n%s\n%s", got, a.Written, want, c)
	}
}

// settle runs OpenSM once more. If port 0 of a switch had a range of LIDs and gets one LID, OpenSM finds its own table
// of LIDs wrong (ERR 3322), removes the LID of the port and assigns it again on its next sweep.
func (c *lidCase) settle(t *testing.T, s *ibsimtest.Sim, dir string) {
	t.Helper()
	ranged := false
	held := heldAddresses(s)
	next := *c
	next.claims = make([]fabric.LIDClaim, len(c.claims))
	for i, e := range c.fabric.EndPorts {
		ranged = ranged || (c.fabric.Ports[e].Num == 0 && c.claims[i].LMC > 0)
		h := held[c.fabric.Ports[e].GUID]
		next.claims[i] = fabric.LIDClaim{LID: uint16(h.lid), LMC: uint8(h.lmc)}
	}
	if !ranged {
		t.Fatalf("ERR 3322 without a switch that has an LMC\n%s", c)
	}
	next.guid2lid = readFile(t, dir, "guid2lid")
	if err := os.Remove(filepath.Join(dir, "opensm.log")); err != nil {
		t.Fatal(err)
	}
	next.sweep(t, s, dir)
}

func (c *lidCase) String() string {
	var b strings.Builder
	for i, e := range c.fabric.EndPorts {
		p := &c.fabric.Ports[e]
		fmt.Fprintf(&b, "%s 0x%016x esp0=%v has LID %d LMC %d\n", c.fabric.PortName(e), p.GUID,
			c.fabric.Nodes[p.Node].EnhancedPort0, c.claims[i].LID, c.claims[i].LMC)
	}
	fmt.Fprintf(&b, "guid2lid before:\n%s", c.guid2lid)
	return b.String()
}

// start starts an ibsim whose ports have the claimed LIDs, and returns a folder with OpenSM's files.
func (c *lidCase) start(t *testing.T) (s *ibsimtest.Sim, dir string) {
	t.Helper()
	dir = t.TempDir()
	var net, console strings.Builder
	if err := gen.WriteNet(&net, c.fabric); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("net", net.String())
	write("guid2lid", string(c.guid2lid))

	write("opensm.conf", fmt.Sprintf("lmc %d\nlmc_esp0 %s\nreassign_lids %s\nexit_on_fatal %s\n",
		c.lmc, boolean(c.esp0), boolean(c.reassign), boolean(!c.stay)))
	s = ibsimtest.Start(t, filepath.Join(dir, "net"))
	for i, e := range c.fabric.EndPorts {
		if claim := c.claims[i]; claim.LID != 0 {
			p := &c.fabric.Ports[e]
			console.WriteString(s.Console(fmt.Sprintf("Baselid %q[%d] %d %d", c.fabric.Nodes[p.Node].Desc, p.Num,
				claim.LID, claim.LMC)))
		}
	}
	if strings.Contains(console.String(), "#") {
		t.Fatalf("ibsim: %s", console.String())
	}
	return s, dir
}

// runOpenSM runs OpenSM once. It returns false if OpenSM refuses guid2lid.
func (c *lidCase) runOpenSM(t *testing.T, s *ibsimtest.Sim, dir string) bool {
	t.Helper()
	cmd := s.Command(context.Background(), "opensm", "-o", "-F", filepath.Join(dir, "opensm.conf"), "-f",
		filepath.Join(dir, "opensm.log"), "-D", "0x43")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("opensm: %v\n%s\n%s", err, out, c)
	}
	return !bytes.Contains(out, []byte("FATAL: Error restoring Guid-to-Lid"))
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var dumpedPort = regexp.MustCompile(`(?m)^([0-9a-f]+)\t\[\d+\].* lid (\d+) lmc (\d+) smlid (\d+) `)

type address struct{ lid, lmc, smLID uint64 }

// heldAddresses returns the LIDs, LMCs and SM LIDs of ibsim's ports, by port GUID.
func heldAddresses(s *ibsimtest.Sim) map[uint64]address {
	held := map[uint64]address{}
	for _, m := range dumpedPort.FindAllStringSubmatch(s.Console("Dump"), -1) {
		var a address
		guid, _ := strconv.ParseUint(m[1], 16, 64)
		a.lid, _ = strconv.ParseUint(m[2], 10, 16)
		a.lmc, _ = strconv.ParseUint(m[3], 10, 8)
		a.smLID, _ = strconv.ParseUint(m[4], 10, 16)
		held[guid] = a
	}
	return held
}

// comparePorts compares LIDs, LMCs and SM LIDs with those of ibsim's ports.
func (c *lidCase) comparePorts(t *testing.T, s *ibsimtest.Sim, a *fabric.LIDAssignment) {
	t.Helper()
	held := heldAddresses(s)
	for _, e := range a.Fabric.EndPorts {
		p := &a.Fabric.Ports[e]
		want := address{uint64(p.LID), uint64(p.LMC), uint64(p.SMLID)}
		if got, ok := held[p.GUID]; !ok || got != want {
			t.Fatalf("%s: ibsim has LID, LMC, SM LID %v, want %v\n%s", a.Fabric.PortName(e), got, want, c)
		}
	}
}

var (
	subnetEnd = regexp.MustCompile(`PortGUID:([0-9a-f]+) .*? LID:([0-9A-F]+) `)
	lftHeader = regexp.MustCompile(`Unicast lids \[0-(\d+)\] of switch Lid (\d+) guid 0x([0-9a-f]+)`)
)

func (c *lidCase) compareDumps(t *testing.T, dir string, a *fabric.LIDAssignment) {
	t.Helper()
	f := a.Fabric
	for _, m := range subnetEnd.FindAllSubmatch(readFile(t, dir, "opensm-subnet.lst"), -1) {
		guid, _ := strconv.ParseUint(string(m[1]), 16, 64)
		lid, _ := strconv.ParseUint(string(m[2]), 16, 64)
		if e := f.PortByGUID(guid); e == fabric.None || uint64(f.Ports[e].LID) != lid {
			t.Fatalf("opensm-subnet.lst: port 0x%016x has LID %d\n%s", guid, lid, c)
		}
	}
	for _, m := range lftHeader.FindAllSubmatch(readFile(t, dir, "opensm-lfts.dump"), -1) {
		guid, _ := strconv.ParseUint(string(m[3]), 16, 64)
		got := string(m[1]) + " " + string(m[2])
		if want := fmt.Sprint(a.Top, " ", f.SwitchLID(f.SwitchByGUID(guid))); got != want {
			t.Fatalf("opensm-lfts.dump: switch 0x%016x: highest and own LID %s, want %s\n%s", guid, got, want, c)
		}
	}
}

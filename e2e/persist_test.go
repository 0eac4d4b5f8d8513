// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// savedSubnet is an ibsim whose cables are pulled and plugged in between the saving and the loading of its routes.
type savedSubnet struct {
	t   *testing.T
	sim *ibsimtest.Sim
	f   *fabric.Fabric
	dir string
}

func newSavedSubnet(t *testing.T, spec string) *savedSubnet {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &savedSubnet{t: t, f: f, dir: t.TempDir()}
	ibconsole(t, "-s", "sim:"+spec, "-c", "dump topology "+s.file("net"))
	s.sim = ibsimtest.Start(t, s.file("net"))
	return s
}

func (s *savedSubnet) file(name string) string { return filepath.Join(s.dir, name) }

func (s *savedSubnet) run(args ...string) string {
	s.t.Helper()
	return ibconsole(s.t, append([]string{"-s", "ibsim:" + s.sim.Name}, args...)...)
}

// console sends commands to ibsim in which <name> stands for a node.
func (s *savedSubnet) console(commands ...string) {
	s.t.Helper()
	for _, c := range commands {
		for {
			before, rest, ok := strings.Cut(c, "<")
			if !ok {
				break
			}
			name, after, _ := strings.Cut(rest, ">")
			c = before + `"` + s.id(name) + `"` + after
		}
		if said := s.sim.Console(c); strings.Contains(said, "#") {
			s.t.Fatalf("ibsim: %s: %s", c, said)
		}
	}
}

func (s *savedSubnet) node(name string) *fabric.Node {
	s.t.Helper()
	all := s.f.NodesByDescription(name)
	if len(all) != 1 {
		s.t.Fatalf("%d nodes with description %q", len(all), name)
	}
	return &s.f.Nodes[all[0]]
}

// id returns the name of a node in the net file.
func (s *savedSubnet) id(name string) string {
	n := s.node(name)
	if n.IsSwitch() {
		return fmt.Sprintf("S-%016x", n.GUID)
	}
	return fmt.Sprintf("H-%016x", n.GUID)
}

type loadedRow struct {
	Row, LFT, MFT, Roots string
	MinHop               string `json:"min_hop"`
	Changes              []string
}

type loadedPort struct {
	Name string
	Port int
}

func (p loadedPort) String() string { return fmt.Sprintf("%s/%d", p.Name, p.Port) }

type loadedRouting struct {
	How              string
	Changed, Entries int
	RoutedBy         string `json:"routed_by"`
	MinHop           bool   `json:"min_hop_valid"`
	Roots            bool   `json:"roots_valid"`
	Rows             []loadedRow
	Unconnected      int64
	UnconnectedPairs []struct {
		From, To loadedPort
		Why      string
	} `json:"unconnected_pairs"`
	WithoutAWay int `json:"without_a_path"`
}

// answerOf returns the one answer of a kind among lines of JSON.
func answerOf[T any](t *testing.T, out, key string) (a T) {
	t.Helper()
	for line := range strings.Lines(out) {
		if strings.Contains(line, key) {
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return a
		}
	}
	t.Fatalf("no answer with %s: %s", key, out)
	return a
}

// savedFabric has two cables between each leaf and each of two spines, savedPlain one.
const (
	savedFabric = "xgft:2,4,4,1,2,1,2"
	savedPlain  = "fattree:2,4"
)

// savedCase is a change of the subnet, and the expected result for a saved routing. The verdicts are those of the
// memo's table 1.
type savedCase struct {
	name, spec, engine string
	before, change     []string
	row, minHop, lft   string
	how                string
	roots              bool
	// untouched is set if no entry changes.
	untouched bool
}

const (
	invalidAll  = "invalid: all"
	invalidPort = "invalid: those through the port"
	invalidLIDs = "invalid: those of the changed LIDs"
	anewBy      = "recomputed"
	byMinHop    = "adapted by the saved min-hop tables"
	byCounting  = "adapted by recomputed min-hop tables"
	asSaved     = "as saved"
	unlinkSpine = "Unlink <spine-02>"
	relinkSpine = "ReLink <spine-02>"
	unlinkHost  = "Unlink <node-0007 HCA-1>"
	relinkHost  = "ReLink <node-0007 HCA-1>"
)

func table1() []savedCase {
	return []savedCase{
		{"New Switch found", savedPlain, "minhop", []string{unlinkSpine}, []string{relinkSpine}, "new switch",
			"invalid", invalidAll, anewBy, false, false},
		{"Missing Switch", savedPlain, "minhop", nil, []string{unlinkSpine}, "missing switch", "invalid", invalidAll,
			anewBy, false, false},
		{
			"New cable found, SW to SW", savedPlain, "minhop", []string{"Unlink <leaf-02>[3]"},
			[]string{"ReLink <leaf-02>[3]"}, "new cable", "valid", "valid", asSaved, false, true,
		},
		{"New cable found, SW to HCA", savedPlain, "minhop", []string{unlinkHost}, []string{relinkHost}, "new cable",
			"valid", "valid", byMinHop, false, false},
		{"Missing Cable (SW to SW), another one there", savedFabric, "minhop", nil, []string{"Unlink <leaf-02>[5]"},
			"missing cable (SW to SW)", "valid", invalidPort, byMinHop, false, false},
		{"Missing Cable (SW to SW), no other", savedPlain, "minhop", nil, []string{"Unlink <leaf-02>[3]"},
			"missing cable (SW to SW)", "invalid", invalidPort, byCounting, false, false},
		{"Missing Cable (SW to HCA)", savedPlain, "minhop", nil, []string{unlinkHost}, "missing cable (SW to HCA)",
			"valid", "valid", asSaved, false, true},
		{"New HCA", savedPlain, "minhop", []string{unlinkHost}, []string{relinkHost}, "new HCA", "valid", "valid",
			byMinHop, false, false},
		{"Missing HCA", savedPlain, "minhop", nil, []string{unlinkHost}, "missing HCA", "valid", "valid", asSaved,
			false, true},
		{"LID Changes", savedPlain, "minhop", nil, []string{"Baselid <node-0007 HCA-1>[1] 100"}, "LID change", "valid",
			invalidLIDs, byMinHop, false, false},
		{
			"root nodes, Missing Cable", savedPlain, "updn", nil, []string{"Unlink <leaf-02>[3]"},
			"missing cable (SW to SW)", "invalid", invalidPort, byCounting, true, false,
		},
		{"root nodes, Missing Switch", savedPlain, "updn", nil, []string{unlinkSpine}, "missing switch", "invalid",
			invalidAll, anewBy, false, false},
		{"root nodes, New Switch", savedPlain, "updn", []string{unlinkSpine}, []string{relinkSpine}, "new switch",
			"invalid", invalidAll, anewBy, false, false},
	}
}

// TestSavedRoutings makes each change of table 1 of the memo on an ibsim, and loads a routing that was saved before.
func TestSavedRoutings(t *testing.T) {
	testenv.Tool(t, "ibsim")
	stateHome(t)
	for _, c := range table1() {
		t.Run(c.name, func(t *testing.T) {
			s := newSavedSubnet(t, c.spec)
			s.console(c.before...)
			s.run("-c", "engine "+c.engine+"; route; dump routing "+s.file("saved")+"; dump lfts "+s.file("old")+
				"; write on; commit yes force-interrupt")
			s.console(c.change...)
			out := s.run("--json", "-c", "load routing "+s.file("saved")+"; dump lfts "+s.file("new")+
				"; check reach; write on; commit yes force-interrupt")
			a := answerOf[loadedRouting](t, out, `"how"`)
			s.verdict(&a, &c)
			if c.untouched != (a.Changed == 0) {
				t.Errorf("%d entries differ from the saved ones", a.Changed)
			}
			s.arrives()
		})
	}
}

// verdict checks the row of a case.
func (s *savedSubnet) verdict(a *loadedRouting, c *savedCase) {
	s.t.Helper()
	i := slices.IndexFunc(a.Rows, func(r loadedRow) bool { return r.Row == c.row })
	if i < 0 {
		s.t.Fatalf("no row %q: %+v", c.row, a.Rows)
	}
	if r := a.Rows[i]; r.MinHop != c.minHop || r.LFT != c.lft || r.MFT != c.lft || len(r.Changes) == 0 {
		s.t.Errorf("row %+v; want min-hop tables %s, LFTs and MFTs %s", r, c.minHop, c.lft)
	}
	if a.How != c.how || a.Roots != c.roots {
		s.t.Errorf("%s, roots valid %v; want %s, %v", a.How, a.Roots, c.how, c.roots)
	}
}

// arrives checks the tables of the switches: all pairs with a new sweep, and two with ibtracert.
func (s *savedSubnet) arrives() {
	s.t.Helper()
	s.run("-c", "check reach of=live")
	for _, pair := range [][2]string{{"node-0001 HCA-1", "node-0005 HCA-1"}, {"node-0005 HCA-1", "node-0001 HCA-1"}} {
		s.sim.Output("ibtracert", s.lid(pair[0]), s.lid(pair[1]))
	}
}

// lid returns the present LID of a node.
func (s *savedSubnet) lid(name string) string {
	s.t.Helper()
	type row struct{ LID int }
	return fmt.Sprint(answerOf[row](s.t, s.run("--json", "-c", "show nodes of=live"), fmt.Sprintf("%q", name)).LID)
}

// TestIncrementalCases makes the changes of section 6 of the memo, and changes that it does not cover, on an ibsim. The
// routes are saved as read from the switches, without their engine, and are adapted.
func TestIncrementalCases(t *testing.T) {
	testenv.Tool(t, "ibsim")
	stateHome(t)
	for _, c := range []struct {
		savedCase
		moved func(s *savedSubnet) // checks the new tables further
	}{
		{
			savedCase{"a link of a host", savedPlain, "minhop", nil, []string{unlinkHost}, "missing cable (SW to HCA)",
				"valid", "valid", asSaved, false, true}, nil,
		},
		{savedCase{"one of two parallel links", savedFabric, "minhop", nil, []string{"Unlink <leaf-02>[5]"},
			"missing cable (SW to SW)", "valid", invalidPort, "adapted", false, false}, func(s *savedSubnet) {
			s.takesOver("leaf-02", 5, 7)
			s.takesOver("spine-01", 2, 6)
		}},
		{savedCase{"a link without another", savedPlain, "minhop", nil, []string{"Unlink <leaf-02>[3]"},
			"missing cable (SW to SW)", "invalid", invalidPort, "adapted", false, false}, func(s *savedSubnet) {
			s.takesOver("leaf-02", 3, 4)
		}},
		{savedCase{"no way is left", savedPlain, "minhop", nil, []string{"Unlink <leaf-02>[3]", "Unlink <leaf-02>[4]"},
			"missing switch", "invalid", invalidAll, anewBy, false, false}, nil},
		{savedCase{"a host moved to another switch", savedPlain, "minhop", []string{unlinkHost},
			[]string{"Unlink <node-0003 HCA-1>", "Link <node-0003 HCA-1>[1] <leaf-04>[1]"},
			"moved HCA", "valid", invalidLIDs, "adapted", false, false}, nil},
		{savedCase{"a link that comes back", savedPlain, "minhop", []string{"Unlink <leaf-02>[3]"},
			[]string{"ReLink <leaf-02>[3]"},
			"new cable", "valid", "valid", asSaved, false, true}, nil},
		{savedCase{"a switch that comes back", savedPlain, "minhop", []string{unlinkSpine}, []string{relinkSpine},
			"new switch", "invalid", invalidAll, anewBy, false, false}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSavedSubnet(t, c.spec)
			s.console(c.before...)
			s.run("-c", "engine "+c.engine+"; route; write on; commit yes force-interrupt; unstage; dump lfts "+
				s.file("old")+"; dump routing "+s.file("saved"))
			s.console(c.change...)
			out := s.run("--json", "-c", "load routing "+s.file("saved")+"; dump lfts "+s.file("new")+
				"; check reach; write on; commit yes force-interrupt")
			a := answerOf[loadedRouting](t, out, `"how"`)
			s.verdict(&a, &c.savedCase)
			if c.untouched != (a.Changed == 0) {
				t.Errorf("%d entries differ from the saved ones", a.Changed)
			}
			if c.moved != nil {
				c.moved(s)
			}
			s.arrives()
		})
	}
}

// entries returns those of a switch in a dump of tables, by LID.
func (s *savedSubnet) entries(file, name string) map[string]string {
	s.t.Helper()
	all, within := map[string]string{}, false
	for line := range strings.Lines(read(s.t, file)) {
		switch words := strings.Fields(line); {
		case strings.HasPrefix(line, "Unicast lids"):
			within = strings.Contains(line, fmt.Sprintf("%016x", s.node(name).GUID))
		case within && strings.HasPrefix(line, "0x"):
			all[words[0]] = words[1]
		}
	}
	if len(all) == 0 {
		s.t.Fatalf("%s has no entries of %s", file, name)
	}
	return all
}

// takesOver checks that entries of a switch for one port are now for another, and all other entries are unchanged.
func (s *savedSubnet) takesOver(name string, from, to int) {
	s.t.Helper()
	old, now := s.entries(s.file("old"), name), s.entries(s.file("new"), name)
	count := 0
	for lid, port := range old {
		want := port
		if port == fmt.Sprintf("%03d", from) {
			want = fmt.Sprintf("%03d", to)
			count++
		}
		if now[lid] != want {
			s.t.Errorf("%s sends LID %s by port %s, want %s", name, lid, now[lid], want)
		}
	}
	if count == 0 {
		s.t.Errorf("%s had no entry for port %d", name, from)
	}
}

// TestKeptRouting checks that with reroute=no the routes stay although a cable is missing, and that ibtracert agrees
// with the list for some pairs.
func TestKeptRouting(t *testing.T) {
	testenv.Tool(t, "ibsim")
	stateHome(t)
	s := newSavedSubnet(t, savedPlain)
	s.run("-c", "route; dump routing "+s.file("saved")+"; dump lfts "+s.file("old")+
		"; write on; commit yes force-interrupt")
	s.console("Unlink <leaf-02>[3]")
	out := s.run("--json", "-c", "load routing "+s.file("saved")+" reroute=no; dump lfts "+s.file("new"))
	sameFile(t, s.file("old"), s.file("new"))
	a := answerOf[loadedRouting](t, out, `"how"`)
	if a.Changed != 0 || a.Unconnected == 0 || int64(len(a.UnconnectedPairs)) != a.Unconnected {
		t.Errorf("%d changed, %d unconnected, %d listed", a.Changed, a.Unconnected, len(a.UnconnectedPairs))
	}
	lost := map[string]bool{}
	for _, p := range a.UnconnectedPairs {
		lost[p.From.String()+" "+p.To.String()] = true
	}
	for _, from := range []string{"node-0002 HCA-1", "node-0005 HCA-1"} {
		for _, to := range []string{"node-0003 HCA-1", "node-0004 HCA-1", "node-0007 HCA-1"} {
			cmd := s.sim.Command(t.Context(), "ibtracert", s.lid(from), s.lid(to))
			cmd.Env = append(cmd.Env, "SIM_HOST="+s.id(from)) // it queries the destination, which must respond
			out, _ := cmd.CombinedOutput()
			listed := lost[from+"/1 "+to+"/1"] || lost[to+"/1 "+from+"/1"]
			if arrives := strings.Contains(string(out), "To ca"); arrives == listed {
				t.Errorf("%s to %s: unconnected by the list: %v; ibtracert: %s", from, to, listed, out)
			}
		}
	}
	// lfts and fdbs have no topology. They leave the same pairs unconnected.
	again := answerOf[loadedRouting](t, s.run("--json", "-c", "load lfts "+s.file("old")+" reroute=no"),
		`"command":"load lfts"`)
	if again.Unconnected != a.Unconnected {
		t.Errorf("lfts: %d unconnected, the routing %d", again.Unconnected, a.Unconnected)
	}
}

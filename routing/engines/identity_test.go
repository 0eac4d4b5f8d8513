// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/assign"
)

// trial is one comparison with OpenSM.
type trial struct {
	chain   []string
	lmcESP0 bool
	opt     routing.Options
	// conf contains further lines of opensm.conf.
	conf string
	// own are engines of the chain with fields of their own.
	own []routing.Engine
	// made counts comparisons.
	made *tally
	// log is OR-ed with 0x43 for OpenSM's -D.
	log int
	// more makes further comparisons with OpenSM's directory.
	more func(dir string, res *routing.Result) error
}

// config returns OpenSM's configuration for a trial, whose files it writes to dir.
func (c *trial) config(t testing.TB, dir string) string {
	var conf strings.Builder
	fmt.Fprintf(&conf, "force_log_flush TRUE\nlmc %d\nlmc_esp0 %s\n", c.opt.LMC, truth(c.lmcESP0))
	fmt.Fprintf(&conf, "connect_roots %s\nport_profile_switch_nodes %s\nport_shifting %s\nscatter_ports "+
		"%d\nguid_routing_order_no_scatter %s\nlash_start_vl %d\ndo_mesh_analysis %s\n",
		truth(c.opt.ConnectRoots), truth(c.opt.ProfileSwitchNodes), truth(c.opt.PortShifting), c.opt.ScatterPorts,
		truth(c.opt.RoutingOrderNoScatter),
		c.opt.LASHStartVL, truth(c.opt.MeshAnalysis))
	fmt.Fprintf(&conf, "max_reverse_hops %d\nquasi_ftree_indexing %s\n", c.opt.MaxReverseHops,
		truth(c.opt.QuasiFtreeIndexing))
	for name, lines := range c.files() {
		path := filepath.Join(dir, name)
		write(t, path, strings.Join(lines, ""))
		fmt.Fprintf(&conf, "%s %s\n", name, path)
	}
	conf.WriteString(c.conf)
	path := filepath.Join(dir, "opensm.conf")
	write(t, path, conf.String())
	return path
}

// files returns the lines of the files that OpenSM reads, by option name.
func (c *trial) files() map[string][]string {
	files := map[string][]string{}
	add := func(name, format string, args ...any) {
		files[name] = append(files[name], fmt.Sprintf(format+"\n", args...))
	}
	if c.opt.RootGUIDs != nil {
		files["root_guid_file"] = nil
	}
	for _, g := range c.opt.RootGUIDs {
		add("root_guid_file", "%#x", g)
	}
	if c.opt.DetectRoots {
		add("root_guid_file", "core switches")
	}
	for name, guids := range map[string][]uint64{"cn_guid_file": c.opt.ComputeNodes, "io_guid_file": c.opt.IONodes} {
		if guids != nil {
			files[name] = nil
		}
		for _, g := range guids {
			add(name, "%#x", g)
		}
		if c.opt.BrokenNodeFile == name {
			add(name, "the rest")
		}
	}
	for g, id := range c.opt.IDs {
		add("ids_guid_file", "%#x %#x", g, id)
	}
	for _, g := range c.opt.RoutingOrder {
		add("guid_routing_order_file", "%#x", g)
	}
	for p := range c.opt.IgnoredPorts {
		add("port_prof_ignore_file", "%#x %d", p.GUID, p.Port)
	}
	for p, w := range c.opt.HopWeights {
		add("hop_weights_file", "%#x %d %d", p.GUID, p.Port, w)
	}
	for _, o := range c.opt.PortSearchOrder {
		add("port_search_ordering_file", "%#x %s", o.GUID, strings.Trim(fmt.Sprint(o.Ports), "[]"))
	}
	return files
}

func truth(b bool) string { return strings.ToUpper(fmt.Sprint(b)) }

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts ibsim with a fabric.
func start(t *testing.T, f *fabric.Fabric) *ibsimtest.Sim {
	t.Helper()
	var b bytes.Buffer
	if err := gen.WriteNet(&b, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fabric.net")
	write(t, path, b.String())
	return ibsimtest.Start(t, path)
}

// differs routes a fabric with OpenSM and with us, and returns the difference: the engine that routed, its forwarding
// tables or its hop counts.
func differs(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, c *trial) error {
	t.Helper()
	dir, theirs := openSM(t, sim, c)
	f, err := withLIDs(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := engines.Chain(c.chain, c.own...)
	if err != nil {
		t.Fatal(err)
	}
	res, refusals, err := engines.Try(context.Background(), chain, f, c.opt)
	var none *engines.NoneError
	switch {
	case errors.As(err, &none):
		if theirs != "" {
			return fmt.Errorf("OpenSM routes with %s; we do not: %w", theirs, err)
		}
		c.made.add("none")
		return nil
	case err != nil:
		return err
	case res.Tables.Origin != theirs:
		return fmt.Errorf("OpenSM routes with %q, we with %q, after refusals %v", theirs, res.Tables.Origin, refusals)
	}
	if err := sameDumps(dir, res); err != nil {
		return err
	}
	if c.more != nil {
		if err := c.more(dir, res); err != nil {
			return err
		}
	}
	c.made.add(theirs)
	return nil
}

// recommend returns OpenSM's choices, also for results that did not come from [engines.Try].
func recommend(res *routing.Result) routing.Recommend {
	if res.Recommend != nil {
		return res.Recommend(res.Hops)
	}
	return assign.Recommend(res.Tables.Fabric, res.Hops, &routing.Options{}, nil, nil)
}

// sameDumps compares tables, hop counts and roots with OpenSM's dumps.
func sameDumps(dir string, res *routing.Result) error {
	var matrix bytes.Buffer
	if err := osm.WriteLIDMatrix(&matrix, res.Tables.Fabric, res.Hops); err != nil {
		return err
	}
	var roots bytes.Buffer
	for _, s := range res.Roots {
		fmt.Fprintf(&roots, "%#x\n", res.Tables.Fabric.SwitchNode(s).GUID)
	}
	var fdbs bytes.Buffer
	if err := osm.WriteFDBs(&fdbs, res.Tables, res.Hops, recommend(res)); err != nil {
		return err
	}
	var differ error
	if res.Roots != nil && res.Tables.Origin == "updn" {
		differ = differsFrom(filepath.Join(dir, "opensm-updn-roots.dump"), roots.Bytes())
	}
	return errors.Join(differ,
		differsFrom(filepath.Join(dir, "opensm-lid-matrix.dump"), matrix.Bytes()),
		differsFrom(filepath.Join(dir, "opensm.fdbs"), fdbs.Bytes()), sameLFTs(dir, res))
}

func sameLFTs(dir string, res *routing.Result) error {
	var lfts bytes.Buffer
	if err := osm.WriteLFTs(&lfts, res.Tables); err != nil {
		return err
	}
	return differsFrom(filepath.Join(dir, "opensm-lfts.dump"), lfts.Bytes())
}

// differsFrom compares our text with OpenSM's file.
func differsFrom(file string, ours []byte) error {
	theirs, err := os.ReadFile(file)
	if err != nil || bytes.Equal(theirs, ours) {
		return err
	}
	a, b := strings.Split(string(theirs), "\n"), strings.Split(string(ours), "\n")
	section := ""
	for i := range min(len(a), len(b)) {
		if strings.Contains(a[i], "witch") && strings.Contains(a[i], "guid") {
			section = a[i]
		}
		if a[i] != b[i] {
			return fmt.Errorf("%s differs in line %d, after %q\n  OpenSM: %s\n  we:     %s", filepath.Base(file), i+1,
				section, a[i], b[i])
		}
	}
	return fmt.Errorf("%s has %d lines, ours %d", filepath.Base(file), len(a), len(b))
}

var routedWith = regexp.MustCompile(
	`: ([\w-]+) tables configured on all switches|No routing engine able to successfully configure`)

// openSM lets OpenSM route once, and returns its directory and the engine that routed, "" if none did.
func openSM(t *testing.T, sim *ibsimtest.Sim, c *trial) (dir, engine string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "opensm.log")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := sim.Command(ctx, "opensm", "-o", "-F", c.config(t, dir), "-R", strings.Join(c.chain, ","), "-f", log, "-D",
		fmt.Sprint(0x43|c.log))
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-time.After(50 * time.Millisecond):
			// It tries again every ten seconds if no engine routes.
			if m := firstRouting(log); m != nil && len(m[1]) == 0 {
				cancel()
				if err := <-ended; err == nil {
					t.Log("OpenSM ended without a signal")
				}
				return dir, ""
			}
		}
	}
	m := firstRouting(log)
	if err != nil || m == nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("opensm: %v\n%s", err, text[max(0, len(text)-4096):])
	}
	return dir, string(m[1])
}

// firstRouting returns the first line about the routing engine in OpenSM's log.
func firstRouting(log string) [][]byte {
	text, err := os.ReadFile(log)
	if err != nil {
		return nil
	}
	return routedWith.FindSubmatch(text)
}

// withLIDs returns a fabric with the LIDs in OpenSM's guid2lid.
func withLIDs(f *fabric.Fabric, dir string) (*fabric.Fabric, error) {
	text, err := os.ReadFile(filepath.Join(dir, "guid2lid"))
	if err != nil {
		return nil, err
	}
	first, last := map[uint64]uint16{}, map[uint64]uint16{}
	for line := range strings.Lines(string(text)) {
		var guid uint64
		var low, high uint16
		if n, _ := fmt.Sscanf(line, "%v %v %v", &guid, &low, &high); n == 3 {
			first[guid], last[guid] = low, high
		}
	}
	var b fabric.Builder
	for i := range f.Nodes {
		if _, err := b.AddNode(f.Nodes[i]); err != nil {
			return nil, err
		}
	}
	for i := range f.NumPorts() {
		p := f.Ports[i]
		q := b.Port(p.Node, int(p.Num))
		if q == nil {
			continue
		}
		q.GUID, q.CapMask, q.VLCap, q.OperVLs = p.GUID, p.CapMask, p.VLCap, p.OperVLs
		if i == f.EndPortOf(i) && slices.Contains(f.EndPorts, i) {
			for q.LID = first[p.GUID]; q.LID+1<<q.LMC <= last[p.GUID]; {
				q.LMC++
			}
		}
		if p.Peer != fabric.None {
			if err := b.Connect(p.Node, int(p.Num), f.Ports[p.Peer].Node, int(f.Ports[p.Peer].Num)); err != nil {
				return nil, err
			}
		}
	}
	sm := &f.Ports[f.SMPort]
	if err := b.SetSMPort(sm.Node, int(sm.Num)); err != nil {
		return nil, err
	}
	return b.Build()
}

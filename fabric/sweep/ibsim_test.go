// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func ibsimOf(t testing.TB, f *fabric.Fabric) *ibsimtest.Sim {
	t.Helper()
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return ibsimtest.Start(t, file)
}

func dialIbsim(t testing.TB, s *ibsimtest.Sim) *mad.Client {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	return client(t, transport, mad.ClientOptions{Window: 32})
}

func TestSweepOfIbsim(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h") // 0.12 announces another capability mask and other rates
	for _, spec := range []string{
		"fattree:2,8", "fattree:3,4", "torus:5x3x3,2", "torus:2x3,1,3", "hypercube:4", "dragonfly:4,2,2",
		"random:20,6,2,seed=3", "xgft:2,2,2,2,2",
	} {
		t.Run(spec, func(t *testing.T) {
			f := generate(t, spec)
			res := full(t, dialIbsim(t, ibsimOf(t, f)), sweep.Options{})
			clean(t, res)
			same(t, "fabric", describe(f), describe(res.Fabric))
		})
	}
}

// TestSweepOfRealFabrics compares sweeps with files of real fabrics, including HDR links.
func TestSweepOfRealFabrics(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h") // 0.12 announces another capability mask and other rates
	for _, name := range []string{"real-cs8500-hdr-192sw.net", "reindeer1100-116sw.net"} {
		t.Run(name, func(t *testing.T) {
			file := testenv.SharedFile(t, "fabrics/"+name)
			read, err := ibnet.ReadFile(t.Context(), file, ibnet.Options{Reading: ibnet.AsIbsim})
			if err != nil {
				t.Fatal(err)
			}
			res := full(t, dialIbsim(t, ibsimtest.Start(t, file)), sweep.Options{})
			clean(t, res)
			want := describe(read.Fabric)
			for i := range want { // ibsim starts with all links in Initialize
				if !strings.Contains(want[i], "/000: ") {
					want[i] = strings.Replace(want[i], "State:Active", "State:Initialize", 1)
				}
			}
			same(t, "fabric", want, describe(res.Fabric))
		})
	}
}

// TestTablesAreOpenSMs checks that a sweep reads the tables that OpenSM wrote and dumped.
func TestTablesAreOpenSMs(t *testing.T) {
	for _, c := range []struct{ spec, engine string }{
		{"fattree:2,8", "ftree"}, {"torus:4x3,3", "minhop"}, {"dragonfly:4,2,2", "updn"},
		{"random:20,6,5,seed=3", "minhop"},
	} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			f := generate(t, c.spec)
			s := ibsimOf(t, f)
			dir := ibsimtest.OpenSM(t, s, "-R", c.engine)
			want, err := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
			if err != nil {
				t.Fatal(err)
			}
			res := full(t, dialIbsim(t, s), sweep.Options{})
			clean(t, res)
			var got bytes.Buffer
			if err := osm.WriteLFTs(&got, res.Tables); err != nil {
				t.Fatal(err)
			}
			same(t, "opensm-lfts.dump", strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
			assigned, err := fabric.AssignLIDs(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range assigned.EndPorts {
				p := assigned.Ports[e]
				at := res.Fabric.PortByGUID(p.GUID)
				if at == fabric.None || res.Fabric.Ports[at].LID != p.LID || res.Fabric.Ports[at].SMLID != p.SMLID ||
					res.Fabric.Ports[at].State != mad.PortActive {
					t.Fatalf("port 0x%016x: not as OpenSM leaves it: LID %d", p.GUID, p.LID)
				}
			}
		})
	}
}

// TestMasterSM finds a running OpenSM on the local port and on another one, and none after it has ended.
func TestMasterSM(t *testing.T) {
	f := generate(t, "fattree:2,4")
	for _, host := range []string{"", "node-0007"} {
		t.Run("on "+host, func(t *testing.T) {
			s := ibsimOf(t, f)
			c := dialIbsim(t, s)
			find := func() (sweep.SM, bool, *fabric.Fabric) {
				res := full(t, c, sweep.Options{NoTables: true})
				if res.Tables != nil {
					t.Error("the result has tables despite NoTables")
				}
				master, ok, others, err := sweep.MasterSM(t.Context(), c, res.Fabric)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range others {
					t.Logf("also: %s: %+v %v", res.Fabric.PortName(o.Port), o.Info, o.Err)
				}
				return master, ok, res.Fabric
			}
			if master, ok, _ := find(); ok {
				t.Fatalf("a master before there is one: %+v", master)
			}
			dir := t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			cmd := s.Command(ctx, "opensm", "-f", filepath.Join(dir, "log"), "-p", "11")
			cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir, "SIM_HOST="+host)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			found := false
			for deadline := time.Now().Add(5 * time.Minute); !found && time.Now().Before(deadline); {
				master, ok, seen := find()
				if found = ok; !found {
					continue
				}
				want := seen.PortByGUID(0x100001)
				if host != "" {
					want = seen.EndPortOf(seen.Port(seen.NodesByDescription("node-0007 HCA-1")[0], 1))
				}
				if master.Port != want || master.Info.GUID != seen.Ports[want].GUID || master.Info.Priority != 11 ||
					!master.Master() {
					t.Errorf("master %+v at %s, want %s", master.Info, seen.PortName(master.Port), seen.PortName(want))
				}
			}
			if !found {
				t.Error("no master within a minute")
			}
			stop()
			_ = cmd.Wait()
			if master, ok, _ := find(); ok {
				t.Errorf("a master after the last one ended: %+v", master)
			}
		})
	}
}

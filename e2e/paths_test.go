// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestPathsEqualOpenSM builds a database of the routing of an OpenSM, or of the tables of its engine here, including
// service levels, and compares it with the records of subnet administration.
func TestPathsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, c := range []struct{ spec, engine string }{{"fattree:2,8", "minhop"}, {"torus:4x4", "lash"},
		{"random:12,5,12", "dfsssp"}} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			stateHome(t)
			dir := t.TempDir()
			net, db := filepath.Join(dir, "net"), filepath.Join(dir, "paths")
			ibconsole(t, "-s", "sim:"+c.spec, "-c", "dump topology "+net)
			sim := ibsimtest.Start(t, net)
			ibsimtest.Master(t, sim, "-s", "0", "-R", c.engine)
			pairs := testenv.Count(t, 300, 2000)
			out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c",
				fmt.Sprintf("engine %s; route keep=no; paths build %s; load paths %s; paths verify live sample=%d "+
					"seed=%d", c.engine, db, db, pairs, testenv.Rand(t).IntN(1<<30)))
			var answer struct {
				Pairs, Differ int
				Differences   []string
			}
			if err := json.Unmarshal([]byte(lastLine(out)), &answer); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if answer.Pairs != pairs || answer.Differ != 0 {
				t.Errorf("%d of %d records differ: %v", answer.Differ, answer.Pairs, answer.Differences)
			}
		})
	}
}

// TestPathsInPartitions is [TestPathsEqualOpenSM] with partitions that have service levels, with several LIDs for each
// port, and with quality of service. Ports that share no partition with a full member have no path.
func TestPathsInPartitions(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, c := range []struct {
		spec, engine string
		lmc          int
	}{{"fattree:2,4", "minhop", 2}, {"mesh:3x3", "lash", 1}, {"torus:4x4", "torus-2QoS", 0}} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			stateHome(t)
			dir := t.TempDir()
			net, db, partitions := filepath.Join(dir, "net"), filepath.Join(dir, "paths"),
				filepath.Join(dir, "partitions.conf")
			ibconsole(t, "-s", "sim:"+c.spec, "-c", "dump topology "+net)
			writePartitions(t, partitions, net)
			sim := ibsimtest.Start(t, net)
			args := []string{"-s", "0", "-R", c.engine, "-P", partitions, "-l", fmt.Sprint(c.lmc)}
			engine := fmt.Sprintf("engine %s lmc=%d", c.engine, c.lmc)
			if c.engine != "minhop" {
				args = append(args, "-Q")
			}
			if c.engine == "torus-2QoS" {
				conf := filepath.Join(dir, "torus.conf")
				ibconsole(t, "-s", "sim:"+c.spec, "-c", "suggest torus "+conf)
				args = append(args, "--torus_config", conf)
				engine += " torus_config=" + conf
			}
			ibsimtest.Master(t, sim, args...)
			out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c",
				fmt.Sprintf("%s; route keep=no; paths build %s sa; load paths %s; paths verify live sample=%d seed=%d",
					engine, db, db,
					testenv.Count(t, 300, 2000), testenv.Rand(t).IntN(1<<30)))
			var answer struct {
				Differ      int
				Differences []string
			}
			if err := json.Unmarshal([]byte(lastLine(out)), &answer); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if answer.Differ != 0 {
				t.Errorf("%d records differ: %v", answer.Differ, answer.Differences)
			}
		})
	}
}

// TestPathsWithOtherSLs checks that paths differ from a database without the service level of a partition, which
// subnet administration grants.
func TestPathsWithOtherSLs(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	dir := t.TempDir()
	net, partitions := filepath.Join(dir, "net"), write(t, "Default=0x7fff, sl=3 : ALL=full ;\n")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.Master(t, sim, "-s", "0", "-Q", "-R", "minhop", "-P", partitions)
	for build, differ := range map[string]bool{"": true, " sa": false} {
		db := filepath.Join(dir, "paths"+strings.TrimSpace(build))
		r := try("--json", "-s", "ibsim:"+sim.Name, "-c",
			fmt.Sprintf("engine minhop; route keep=no; paths build %s%s; load paths %s; paths verify live sample=50",
				db, build, db))
		var answer struct {
			Pairs, Differ int
			Differences   []string
		}
		if err := json.Unmarshal([]byte(lastLine(r.out)), &answer); err != nil {
			t.Fatalf("%v: %s", err, r.err)
		}
		want := 0
		if differ {
			want = 50
		}
		if answer.Pairs != 50 || answer.Differ != want || (r.status == exitDone) == differ {
			t.Errorf("paths build%s: %+v, exit status %d, want %d differences", build, answer, r.status, want)
		}
		for _, d := range answer.Differences {
			if !strings.Contains(d, "SL 3, the database has 0xffff and 0") {
				t.Errorf("paths build%s: %s", build, d)
			}
		}
	}
}

// writePartitions writes OpenSM's file of partitions: all hosts are limited members of the default one, and of three
// others each third, half and fifth host, some of them limited.
func writePartitions(t *testing.T, name, net string) {
	t.Helper()
	s, err := formats.Read(t.Context(), net)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("Default=0x7fff, ipoib, sl=1 : ALL=limited, SELF=full ;\n")
	for i, p := range []struct{ key, sl, every int }{{0x0203, 3, 3}, {0x0102, 9, 2}, {0x1001, 2, 5}} {
		fmt.Fprintf(&b, "P%d=0x%04x, sl=%d :", i, p.key, p.sl)
		separator := " "
		for n, port := range s.Fabric.EndPorts {
			if s.Fabric.Ports[port].Num == 0 || n%p.every != 0 {
				continue
			}
			how := "full"
			if n%4 == 2 {
				how = "limited"
			}
			fmt.Fprintf(&b, "%s0x%016x=%s", separator, s.Fabric.Ports[port].GUID, how)
			separator = ", "
		}
		b.WriteString(" ;\n")
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

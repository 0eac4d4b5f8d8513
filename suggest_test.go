// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func TestSuggestGUIDs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "guids")
	out := ibconsole(t, "-s", "sim:bull:3,4,hosts=6,services=2", "-c", "suggest guids "+dir)
	for _, want := range []string{
		"12        leaf    0     l#-#-#  2       6      l0-01-01\n",
		"compute  node-#     node-0001 HCA-1/1     l0-01-01", "its name says service",
		"72 compute and 4 other nodes, max_reverse_hops 0: routes; all reach each other\n",
		"root_guids, cn_guids, io_guids written to " + dir,
		"try: engine ftree root_guid_file=" + dir + "/root_guids cn_guid_file=" + dir + "/cn_guids io_guid_file=" + dir + "/io_guids\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for name, lines := range map[string]int{"root_guids": 2, "cn_guids": 72, "io_guids": 4} {
		if got := strings.Count(read(t, filepath.Join(dir, name)), "\n"); got != lines {
			t.Errorf("%s has %d lines, want %d", name, got, lines)
		}
	}
	if first, _, _ := strings.Cut(read(t, filepath.Join(dir, "cn_guids")), "\n"); first != "0x0000000000100001 # node-0001 HCA-1" {
		t.Errorf("cn_guids begins with %q", first)
	}
	if r := try("-s", "sim:bull:3,4", "-c", "suggest guids "+dir); r.status != exitFailed || !strings.Contains(r.err, "file exists") {
		t.Errorf("into a directory that exists: status %d, %s", r.status, r.err)
	}
	if r := try("-s", "sim:torus:3x3", "-c", "suggest guids"); r.status != exitFailed || !strings.Contains(r.err, "no fat-tree: compute nodes are attached to every switch") {
		t.Errorf("of a torus: status %d, %s", r.status, r.err)
	}
}

// TestGenByName gives arguments by name; the numbers are those of the drawing that
// bull is made after.
func TestGenByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	out := ibconsole(t, "-c", "gen bull 2 2 hosts=2 services=2 up=2 "+file)
	if !strings.Contains(out, "12 switches, 12 channel adapters, 32 links written to "+file) {
		t.Error(out)
	}
	if r := try("-c", "gen bull 2 2 spines=2 "+file); r.status != exitUsage || !strings.Contains(r.err, `unknown option "spines" of gen bull`) {
		t.Errorf("status %d, %s", r.status, r.err)
	}
}

func TestSuggestGUIDsAsJSON(t *testing.T) {
	var got struct {
		Roots        int
		ComputeNodes int `json:"compute_nodes"`
		IONodes      int `json:"io_nodes"`
		Switches     []struct{ Layer string }
		Tried        []struct{ Unreachable int }
		Files        []string
	}
	dir := filepath.Join(t.TempDir(), "guids")
	if err := json.Unmarshal([]byte(ibconsole(t, "-s", "sim:fattree:2,8", "--json", "-c", "suggest guids "+dir)), &got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "{4 32 0 [{root} {leaf}] [{0}] [root_guids cn_guids]}" {
		t.Errorf("%v", got)
	}
}

// TestSuggestedGUIDsWithOpenSM gives the files to a real OpenSM, and compares its
// tables with those of our ftree.
func TestSuggestedGUIDsWithOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	for name, source := range map[string]func(t *testing.T) string{
		"bull":  func(*testing.T) string { return "sim:bull:3,4,hosts=6,services=2,up=2" },
		"rails": func(t *testing.T) string { return "file:" + testenv.SharedFile(t, "fabrics/real-ndr-rail-40sw.topo") },
		"director": func(t *testing.T) string {
			return "file:" + testenv.SharedFile(t, "fabrics/real-cs8500-hdr-192sw.topo")
		},
		"uneven": func(t *testing.T) string { return "file:" + testenv.SharedFile(t, "fabrics/real-qdr-11sw.topo") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			ibconsole(t, "-s", source(t), "-c", "dump topology "+at("net"))
			sim := ibsimtest.Start(t, at("net"))
			out := ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "suggest guids "+at("guids"))
			_, command, _ := strings.Cut(strings.TrimSpace(out), "try: ")
			ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", command+"; route; dump lfts "+at("ours")+"; handover "+at("over"))

			var conf strings.Builder
			fmt.Fprintln(&conf, "routing_engine ftree\nreassign_lids FALSE\nhonor_guid2lid_file TRUE")
			for _, option := range strings.Fields(command)[2:] {
				fmt.Fprintln(&conf, strings.Replace(option, "=", " ", 1))
			}
			osm := at("opensm")
			if err := os.Mkdir(osm, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{at("opensm.conf"): conf.String(), filepath.Join(osm, "guid2lid"): read(t, at("over/guid2lid"))} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := sim.Command(ctx, "opensm", "-o", "-F", at("opensm.conf"), "-f", at("opensm.log"), "-D", "0x43")
			cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+osm, "OSM_CACHE_DIR="+osm)
			cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("opensm: %v\n%s", err, out)
			}
			if log := read(t, at("opensm.log")); !strings.Contains(log, "ftree tables configured on all switches") {
				t.Fatalf("OpenSM does not route with ftree:\n%s", log[max(0, len(log)-4096):])
			}
			sameFile(t, filepath.Join(osm, "opensm-lfts.dump"), at("ours"))
		})
	}
}

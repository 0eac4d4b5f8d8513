// SPDX-License-Identifier: Apache-2.0

package e2e

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

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

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
	if err := json.Unmarshal([]byte(ibconsole(t, "-s", "sim:fattree:2,8", "--json", "-c", "suggest guids "+dir)),
		&got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "{4 32 0 [{root} {leaf}] [{0}] [root_guids cn_guids]}" {
		t.Errorf("%v", got)
	}
}

// TestSuggestedGUIDsWithOpenSM gives the files to a real OpenSM, and compares its tables with those of our ftree.
func TestSuggestedGUIDsWithOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	for name, source := range map[string]func(t *testing.T) string{
		"bull": func(*testing.T) string { return "sim:bull:3,4,hosts=6,services=2,up=2" },
		"rails": func(t *testing.T) string {
			return "file:" + testenv.SharedFile(t, "fabrics/real-ndr-rail-40sw.topo")
		},
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
			_, command, _ := strings.Cut(strings.TrimSpace(out), "hint: ")
			ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", command+"; route; dump lfts "+at("ours")+
				"; handover "+at("over"))

			var conf strings.Builder
			fmt.Fprintln(&conf, "routing_engine ftree\nreassign_lids FALSE\nhonor_guid2lid_file TRUE")
			for _, option := range strings.Fields(command)[2:] {
				fmt.Fprintln(&conf, strings.Replace(option, "=", " ", 1))
			}
			osm := at("opensm")
			if err := os.Mkdir(osm, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				at("opensm.conf"): conf.String(), filepath.Join(osm, "guid2lid"): read(t, at("over/guid2lid")),
			} {
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

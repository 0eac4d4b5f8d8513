// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSlurmTakesTopology gives topology.conf to a Slurm on loopback, which must show the switches and nodes of the file
// without warnings.
func TestSlurmTakesTopology(t *testing.T) {
	file := filepath.Join(t.TempDir(), "topology.conf")
	for _, spec := range []string{"fattree:3,4", "torus:3x3"} {
		t.Run(spec, func(t *testing.T) {
			if r := try("-s", "sim:"+spec, "-c", "report slurm-conf "+file); r.status != exitDone {
				t.Fatal(r.err)
			}
			conf, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, m := range regexp.MustCompile(`Nodes=(\S+)`).FindAllStringSubmatch(string(conf), -1) {
				nodes = append(nodes, m[1])
			}
			s := startController(t, "TopologyPlugin=topology/tree\nNodeName="+strings.Join(nodes, ",")+
				" NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN\n",
				map[string]string{"topology.conf": string(conf)})
			shown := ""
			s.until("Slurm to show a topology", func() bool {
				out, err := s.command("scontrol", "show", "topology").CombinedOutput()
				shown = string(out)
				return err == nil && strings.Contains(shown, "SwitchName=")
			})
			var got, want []string
			for _, m := range regexp.MustCompile(
				`(?m)^SwitchName=(\S+) .*?(?:Nodes=(\S+))?(?: Switches=(\S+))?\s*$`).FindAllStringSubmatch(shown, -1) {
				if m[3] != "" {
					m[2] = ""
				}
				got = append(got, m[1]+" "+m[2]+m[3])
			}
			for _, m := range regexp.MustCompile(`SwitchName=(\S+) (?:Nodes|Switches)=(\S+)`).FindAllStringSubmatch(
				string(conf), -1) {
				want = append(want, m[1]+" "+m[2])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Slurm shows\n%s\nof\n%s", shown, conf)
			}
			log, err := os.ReadFile(filepath.Join(s.dir, "slurmctld.log"))
			if err != nil {
				t.Fatal(err)
			}
			if m := regexp.MustCompile(`(?i).*(topology|switch).*`).FindString(string(log)); strings.Contains(m,
				"error") || strings.Contains(m, "WARNING") {
				t.Errorf("Slurm warns: %s", m)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"testing"
)

// TestParseSources gives each subnet a name of its own, and opens sets and rails one by one.
func TestParseSources(t *testing.T) {
	sets := map[string][]string{"rails": {"umad:mlx5_0", "west=umad:mlx5_1:2"}}
	for given, want := range map[string]string{
		"umad":                            "umad=umad",
		"rails":                           "mlx5_0=umad:mlx5_0 west=umad:mlx5_1:2",
		"rails file:/tmp/a.net ibsim:x":   "mlx5_0=umad:mlx5_0 west=umad:mlx5_1:2 a.net=file:/tmp/a.net x=ibsim:x",
		"sim:fattree:2,8 sim:fattree:2,8": "fattree:2,8=sim:fattree:2,8 fattree:2,8-2=sim:fattree:2,8",
		"sim:rails:2,torus:3x3":           "rail-1=sim:torus:3x3,rail=1 rail-2=sim:torus:3x3,rail=2",
		"sim:rails:1,hypercube:3,agg=yes old=sim:a": "rail-1=sim:hypercube:3,agg=yes,rail=1 old=sim:a",
		"sim:fattree:2,8,agg=yes":                   "fattree:2,8,agg=yes=sim:fattree:2,8,agg=yes",
	} {
		all, err := ParseAll(strings.Fields(given), sets)
		var got []string
		for _, n := range all {
			got = append(got, fmt.Sprintf("%s=%v", n.Name, n.Source))
		}
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("%s: %s, %v, want %s", given, text, err, want)
		}
	}
	if all, err := ParseAll([]string{"sim:rails:2,fattree:2,8 adaptive=yes"}, nil); err != nil ||
		all[1].Source.Arg != "fattree:2,8 adaptive=yes rail=2" {
		t.Errorf("with words behind: %+v, %v", all, err)
	}
	for given, want := range map[string]string{
		"rail":                      "and no configuration has a set of that name (it has none)",
		"all=sim:fattree:2,8":       "expected NAME=SOURCE",
		"=umad":                     "expected NAME=SOURCE",
		"a'b=umad":                  "expected NAME=SOURCE",
		"x=sim:rails:2,fattree:2,8": "names 2 subnets, but a name stands for one subnet",
		"sim:rails:65,fattree:2,8":  "N from 1 to 64",
		"sim:rails":                 "sim:rails:: expected sim:rails:N,KIND:ARGS",
		"sim:rails:2":               "expected sim:rails:N,KIND:ARGS",
	} {
		if _, err := ParseAll([]string{given}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/tmuxtest"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// onScreen is the program on a terminal, with subnets and a history of its own.
func onScreen(t *testing.T, sources []string) *tmuxtest.Screen {
	t.Helper()
	return tmuxtest.Start(t, 120, 36, strings.Join(append([]string{
		"exec env -u CI -u NO_COLOR -u COLORTERM LANG=C.UTF-8 LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + t.TempDir(),
		program}, sources...), " "))
}

// TestHungSubnet has eight subnets, one of them on an ibsim that is stopped. The others must be available, in scripts
// and on the screen, and requests to the stopped one must fail with its name.
func TestHungSubnet(t *testing.T) {
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	sim.Pause()
	defer sim.Resume()
	sources := []string{"-s", "hung=ibsim:" + sim.Name, "-s", "sim:rails:7,fattree:2,8"}
	if out := ibconsole(t, append(sources, "-c", "on rail-7 trace node-0001 node-0009")...); !strings.Contains(out,
		"delivered") {
		t.Errorf("of another subnet than the one that hangs: %s", out)
	}
	r := try(append(sources, "-c", "on all summary")...)
	if r.status != exitFailed || strings.Count(r.out, "12 switches, 32 channel adapters") != 7 ||
		!strings.Contains(r.err, "hung: ") || strings.Contains(r.err, "rail-") {
		t.Errorf("on all: status %d, %s\n%s", r.status, r.out, r.err)
	}

	s := onScreen(t, sources)
	s.Awaits("hung")
	s.Types("A")
	s.Awaits("8 subnets", "rail-7")
	s.Types("j", "j", "j", "Enter")
	s.Awaits("this is rail-3", "12 switches, 32 hosts")
	s.Types("2", "/")
	s.Types("leaf-03")
	s.Types("Enter")
	s.Awaits("node-0009 mlx5_2")
	sim.Resume()
	s.Types(":")
	s.Types("source hung")
	s.Types("Enter")
	s.Awaits("ibconsole hung ibsim")
	s.Types("R")
	s.Awaits("hung ibsim", "12 switches, 32 hosts")
}

// TestOddRail goes by keys from eight rails to the different one, and to the difference.
func TestOddRail(t *testing.T) {
	stateHome(t)
	net := filepath.Join(t.TempDir(), "rail-5")
	ibconsole(t, "-s", "sim:fattree:2,8,rail=5", "-c", "fail link leaf-03 6; dump topology "+net+" of=whatif")
	var sources []string
	for rail := range strings.FieldsSeq("1 2 3 4 6 7 8") {
		sources = append(sources, "-s", "rail-"+rail+"=sim:fattree:2,8,rail="+rail)
	}
	sources = append(sources, "-s", "rail-5=sim:"+net)
	s := onScreen(t, sources)
	s.Awaits("rail-1", "12 switches, 32 hosts")
	for _, step := range []step{
		press("A", "b").see("2 differences", "rail-5", "spine-02/3 has no link, on most others it leads to leaf-03/6"),
		press("Enter").see("this is rail-5", "p3"),
		press("{").see("this is rail-8"), press("}").see("this is rail-5"),
	} {
		s.Types(step.keys...)
		s.Awaits(step.shows...)
	}
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// lose makes the switches lose a percentage of packets.
func (c *cluster) lose(percent int) {
	for _, name := range c.switches {
		c.sim.Console(fmt.Sprintf("Error %q %d", name, percent))
	}
}

// clusterLink is a link between two switches. at is one of its ends in ibsim's notation.
type clusterLink struct{ at, a, b string }

func (l clusterLink) meets(m clusterLink) bool {
	return l.a == m.a || l.a == m.b || l.b == m.a || l.b == m.b
}

// mostDown is the maximum number of links that are down at a time. If no two of them are at one switch, these trees
// stay connected.
const mostDown = 3

// drawFlap chooses a link that goes down or up after some time.
func (c *cluster) drawFlap(wait time.Duration) func() {
	word, link := "Unlink", 0
	if n := len(c.down); n > 0 && c.round > 0 && (n == mostDown || c.r.IntN(2) == 0) {
		i := c.r.IntN(n)
		word, link = "Relink", c.down[i]
		c.down = slices.Delete(c.down, i, i+1)
	} else {
		for link = c.r.IntN(len(c.links)); slices.ContainsFunc(c.down, func(d int) bool {
			return c.links[d].meets(c.links[link])
		}); {
			link = c.r.IntN(len(c.links))
		}
		c.down = append(c.down, link)
	}
	c.count.Flaps++
	command := fmt.Sprintf("%s %s", word, c.links[link].at)
	return func() {
		time.Sleep(wait)
		c.tell("%s", command)
		c.sim.Console(command)
	}
}

// detachDead frees the places of programs that were killed, whose sockets no longer exist.
func (c *cluster) detachDead() {
	clients := attachedAs.FindAllStringSubmatch(c.sim.Console("Attached"), -1)
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		c.t.Error(err)
	}
	for _, m := range clients {
		if !strings.Contains(string(sockets), fmt.Sprintf("%s:in%s@", c.sim.Name, m[2])) {
			c.sim.Console("X " + m[1])
		}
	}
}

var attachedAs = regexp.MustCompile(`Client (\d+): pid (\d+)`)

// manager is an OpenSM that starts and ends, on another port than the consoles.
type manager struct {
	c      *cluster
	opensm tool
	cmd    *exec.Cmd // nil if it is not running
	ended  chan error
	dir    string
	// was is set if it ran in this round, lost if it was ended in this round, possibly before it logged its writes, and
	// alone if no console has written since it started.
	was, lost, alone bool
}

// managerGUID is the GUID of its port: the one that ibsim gives the second host of these nets.
const managerGUID = "0x100003"

// managerEngines are the engines that OpenSM is started with.
var managerEngines = []string{"minhop", "updn", "ftree", "dfsssp"}

func newManager(c *cluster) *manager {
	m := &manager{c: c, opensm: newTool(c.t, c.sim, "opensm", "SIM_HOST=node-0002")}
	c.t.Cleanup(func() { m.end(syscall.SIGKILL) })
	return m
}

// draw chooses its next change after some time: it starts, or is ended with or without a chance to clean up.
func (m *manager) draw(wait time.Duration) func() {
	r := m.c.r
	engine := managerEngines[r.IntN(len(managerEngines))]
	signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGKILL}[r.IntN(3)]
	if m.cmd == nil {
		m.was, m.alone = true, true
		m.c.count.Managers++
		m.dir = filepath.Join(m.c.dir, fmt.Sprintf("opensm-%d", m.c.round))
		return func() { time.Sleep(wait); m.start(engine) }
	}
	m.lost = true
	return func() { time.Sleep(wait); m.end(signal) }
}

func (m *manager) start(engine string) {
	m.c.tell("OpenSM comes: %s", engine)
	config := filepath.Join(m.dir, "opensm.conf")
	err := errors.Join(os.MkdirAll(m.dir, 0o700),
		os.WriteFile(config, []byte(ibsimtest.Config(m.dir)+"force_log_flush TRUE\n"), 0o600))
	if err == nil {
		err = retry(func() error { return m.try("-F", config, "-f", m.log(), "-D", "0x43", "-R", engine) })
	}
	if err != nil {
		m.c.t.Errorf("OpenSM: %v", err)
	}
}

// try starts it and waits until it is on its port.
func (m *manager) try(args ...string) error {
	cmd := exec.Command(m.opensm.path, args...)
	cmd.Dir, cmd.Env = m.dir, append(slices.Clone(m.opensm.env), "OSM_TMP_DIR="+m.dir, "OSM_CACHE_DIR="+m.dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !strings.Contains(textOf(m.log()), "Setting IS_SM") {
		select {
		case err := <-ended:
			return fmt.Errorf("%w: %s", err, &said)
		case <-time.After(5 * time.Millisecond):
		}
	}
	m.cmd, m.ended = cmd, ended
	return nil
}

func (m *manager) log() string { return filepath.Join(m.dir, "opensm.log") }

func (m *manager) end(signal syscall.Signal) {
	if m.cmd == nil {
		return
	}
	m.c.tell("OpenSM goes: %v", signal)
	_ = m.cmd.Process.Signal(signal)
	select {
	case err := <-m.ended:
		m.c.tell("OpenSM ended: %v", err)
	case <-time.After(managerLimit):
		_ = m.cmd.Process.Kill()
		m.c.tell("OpenSM did not go: %v", <-m.ended)
	}
	m.cmd = nil
	m.c.detachDead()
}

// managerLimit is the time limit for all actions of OpenSM.
const managerLimit = time.Minute

// settle waits until OpenSM has swept the present subnet and logs nothing more.
func (m *manager) settle() {
	if m.cmd == nil {
		return
	}
	ups := func() int { return strings.Count(textOf(m.log()), "SUBNET UP") } // the number of finished sweeps in the log
	m.until("came", func() bool { return ups() > 0 })
	before := ups()
	_ = m.cmd.Process.Signal(syscall.SIGHUP)
	m.until("swept", func() bool { return ups() > before })
	quiet, size := 0, 0
	m.until("is quiet", func() bool {
		quiet++
		if now := len(textOf(m.log())); now != size {
			quiet, size = 0, now
		}
		return quiet > 5
	})
}

func (m *manager) until(what string, done func() bool) {
	m.c.t.Helper()
	for begun := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-m.ended:
			m.ended <- err
			m.c.wrong("OpenSM ended before it %s: %v\n%s", what, err, lastOf(textOf(m.log())))
		default:
		}
		if time.Since(begun) > managerLimit {
			m.c.wrong("within %v OpenSM has not said that it %s\n%s", managerLimit, what, lastOf(textOf(m.log())))
		}
	}
}

// lastOf returns the end of a long text.
func lastOf(text string) string { return text[max(0, len(text)-3000):] }

// read returns the tables of the switches, as read by dump_fts.
func (c *cluster) read() held {
	c.t.Helper()
	var h held
	err := retry(func() (err error) { h, err = c.dumpFTS.tables(c.t.Context()); return err })
	if err != nil {
		c.wrong("%v\n%s", err, c.sim.Console("Attached"))
	}
	if n := h.switches(); n != len(c.switches) {
		c.wrong("dump_fts reads %d of %d switches", n, len(c.switches))
	}
	return h
}

// tables runs dump_fts and returns the tables that it prints.
func (d tool) tables(ctx context.Context) (held, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.path, "-n")
	cmd.Dir, cmd.Env = d.dir, d.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("dump_fts: %w: %s", err, &said)
	}
	return heldIn(string(out)), nil
}

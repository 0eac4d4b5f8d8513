// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/history"
	"example.org/ibconsole/shell"
	answers "example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// clusterHost is a machine with a history: its consoles share the lock of commits.
type clusterHost struct {
	home  string
	store *history.Store
	seen  int64 // the newest commit that was judged
}

func newClusterHost(t *testing.T) *clusterHost {
	home := t.TempDir()
	dir := filepath.Join(home, "ibconsole")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := history.OpenFile(t.Context(), filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &clusterHost{home: home, store: store}
}

// newest is the number of the newest commit.
func (h *clusterHost) newest(ctx context.Context) int64 {
	all, err := h.store.Journal(ctx, "")
	if err != nil || len(all) == 0 {
		return 0
	}
	return all[0].ID
}

// speaker takes commands until it is left, or has ended.
type speaker interface {
	say(ctx context.Context, commands string) (out string, err error)
	over() bool
	leave()
}

// clusterConsole is one of those on a cluster. The odd ones are programs of their own, the others sessions in this one.
type clusterConsole struct {
	c     *cluster
	num   int
	host  *clusterHost
	in    speaker // nil where its program has ended
	paper bool    // says that something may have failed on paper
	last  int64   // the entry in the history of its last commit that was done, 0 for none since it came
	shown shown
}

func newClusterConsole(c *cluster, i int) *clusterConsole {
	k := &clusterConsole{c: c, num: i, host: c.hosts[i/2]}
	k.enter()
	c.t.Cleanup(func() {
		if k.in != nil {
			k.in.leave()
		}
	})
	return k
}

// enter starts a console anew where the one before has ended.
func (k *clusterConsole) enter() {
	if k.in != nil {
		return
	}
	from := "ibsim:" + k.c.sim.Name
	err := retry(func() (err error) {
		if k.num%2 == 1 {
			k.in, err = startPiped(from, k.host.home)
		} else {
			k.in, err = openInside(k.c.t, from, k.host.home)
		}
		return err
	})
	if err != nil {
		k.in = nil
		k.c.wrong("console %d: %v", k.num, err)
	}
	k.paper, k.last = false, 0
}

// sayLimit is how long commands may take.
const sayLimit = 2 * time.Minute

// say gives the console commands, until the first that fails. A program ends there.
func (k *clusterConsole) say(commands string) (string, error) {
	ctx, cancel := context.WithTimeout(k.c.t.Context(), sayLimit)
	defer cancel()
	k.c.tell("console %d: %s", k.num, commands)
	out, err := k.in.say(ctx, commands)
	if err != nil {
		k.c.tell("console %d: %.400v", k.num, err)
		k.c.refused.Add(1)
	}
	if k.in.over() {
		k.in = nil
	}
	for line := range strings.Lines(out) {
		var commit struct {
			Written bool
			History int64
		}
		if json.Unmarshal([]byte(line), &commit) == nil && commit.Written {
			k.last = commit.History
		}
	}
	return out, err
}

// clusterEngines are those that consoles draw from; N is a number.
var clusterEngines = []string{"minhop", "minhop port_shifting=TRUE", "minhop scatter_ports=N", "minhop scatter_ports=N",
	"updn", "ftree", "sssp", "dnup"}

// drawRoute draws how to route.
func (c *cluster) drawRoute() string {
	engine := strings.ReplaceAll(clusterEngines[c.r.IntN(len(clusterEngines))], "N", fmt.Sprint(1+c.r.IntN(9)))
	return "engine " + engine + "; route keep=" + []string{"yes", "no"}[c.r.IntN(2)]
}

// drawLeave draws what a commit is allowed to do.
func (c *cluster) drawLeave() (words string) {
	for _, may := range []struct {
		word    string
		percent int
	}{{"force-interrupt", 90}, {"force-loop", 90}, {"force-overwrite", 50}, {"abandon", 30}, {"sm=" + managerGUID, 80}} {
		drawn := c.r.IntN(100) < may.percent
		if drawn && (c.manager.was || !strings.HasPrefix(may.word, "sm=")) {
			words += " " + may.word
		}
	}
	return words
}

// draw draws something to do.
func (k *clusterConsole) draw() func() {
	c, r := k.c, k.c.r
	commands := ""
	if k.paper && r.IntN(2) == 0 {
		commands, k.paper = "restore all; ", false
	}
	writes := true
	switch leave := c.drawLeave(); r.IntN(10) {
	case 0:
		commands, writes = commands+"sweep light; problems", false
	case 1:
		commands, writes = commands+"sweep full; check reach of=live", false
	case 2:
		commands, writes = commands+fmt.Sprintf("fail random 2 seed=%d; %s; diff; check reach", r.IntN(1000),
			c.drawRoute()), false
		k.paper = true
	case 3, 4:
		commands += "rollback yes" + leave
	case 5:
		commands += "commit resume yes" + leave
	default:
		commands += c.drawRoute() + "; commit yes" + leave
	}
	wait, end := c.wait(), time.Duration(r.Int64N(int64(longestKilled)))
	if p, is := k.in.(*piped); is && writes && r.IntN(3) == 0 {
		c.count.Killed++
		return func() { time.Sleep(wait); k.killAfter(p, end, commands) }
	}
	return func() { time.Sleep(wait); _, _ = k.say(commands) }
}

// longestKilled is about how long a commit of these takes from its entry in the journal on.
const longestKilled = 12 * time.Millisecond

// killAfter ends the program some time after a commit was journalled, or when it has done its commands.
func (k *clusterConsole) killAfter(p *piped, wait time.Duration, commands string) {
	ctx, cancel := context.WithCancel(k.c.t.Context())
	killed := make(chan struct{})
	before := k.host.newest(ctx)
	go func() {
		defer close(killed)
		for ctx.Err() == nil && k.host.newest(ctx) == before {
			time.Sleep(200 * time.Microsecond)
		}
		time.Sleep(wait)
		p.kill()
	}()
	_, _ = k.say(commands)
	cancel()
	<-killed
	p.reap()
	k.in = nil
	k.c.tell("console %d was killed, %v after a commit began or after all", k.num, wait)
	k.c.detachDead()
}

// piped is the program, which reads a script from a pipe.
type piped struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
	ended  bool
}

func startPiped(from, home string) (*piped, error) {
	p := &piped{cmd: exec.Command(program, "--json", "--window", "4", "-s", from, "run", "-")}
	p.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
	p.cmd.Stderr = &p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = p.say(context.Background(), "write off")
	return p, err
}

// spoken ends what it answers to "write on", which ends each conversation.
const spoken = `"write":true}`

func (p *piped) say(ctx context.Context, commands string) (string, error) {
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	_, _ = io.WriteString(p.in, commands+"\nwrite on\n") // it may have ended
	var out strings.Builder
	for {
		line, err := p.out.ReadString('\n')
		if strings.HasSuffix(strings.TrimSpace(line), spoken) {
			return out.String(), nil
		}
		out.WriteString(line)
		if err != nil {
			p.reap()
			return out.String(), fmt.Errorf("%v: %s", p.cmd.ProcessState, lastLine(p.errors.String()))
		}
	}
}

func (p *piped) over() bool { return p.ended }

func (p *piped) kill() { _ = p.cmd.Process.Kill() } // it may have ended

// reap waits for the end of a program that was killed, or ends by itself.
func (p *piped) reap() {
	if !p.ended {
		_, _ = io.Copy(io.Discard, p.out)
		_ = p.cmd.Wait()
		p.ended = true
	}
}

func (p *piped) leave() {
	_ = p.in.Close()
	p.reap()
}

// inside is a session in the test's own process, which goes on where commands fail.
type inside struct {
	s  *session.Session
	sh *shell.Shell
}

func openInside(t *testing.T, from, home string) (*inside, error) {
	src, err := source.Parse(from)
	if err != nil {
		return nil, err
	}
	s, err := session.Open(t.Context(), src, session.Options{StateDir: filepath.Join(home, "ibconsole"), Record: true})
	if err == nil {
		err = s.Start(t.Context())
	}
	if err != nil {
		return nil, err
	}
	return &inside{s, shell.New(s)}, s.SetWrite(true)
}

func (i *inside) say(ctx context.Context, commands string) (string, error) {
	var out bytes.Buffer
	err := i.sh.Run(ctx, "line", commands, &shell.Output{W: &out, Form: answers.FormJSON})
	return out.String(), err
}

func (i *inside) over() bool { return false }

func (i *inside) leave() { _ = i.s.Close() }

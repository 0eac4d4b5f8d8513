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

// clusterHost is a machine with a history. Its consoles share the lock of commits.
type clusterHost struct {
	home  string
	store *history.Store
	seen  int64 // the newest commit that was checked
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

// newest returns the number of the newest commit.
func (h *clusterHost) newest(ctx context.Context) int64 {
	all, err := h.store.Journal(ctx, "")
	if err != nil || len(all) == 0 {
		return 0
	}
	return all[0].ID
}

// speaker accepts commands until it is closed or has ended.
type speaker interface {
	say(ctx context.Context, commands string) (out string, err error)
	over() bool
	leave()
}

// clusterConsole is a console on a cluster. Consoles with odd numbers are separate programs, the others sessions in
// this process.
type clusterConsole struct {
	c     *cluster
	num   int
	host  *clusterHost
	in    speaker // nil if its program has ended
	paper bool    // there may be simulated failures
	last  int64   // the history entry of its last complete commit, 0 for none since it started
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

// enter restarts a console whose program has ended.
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

// sayLimit is the maximum time of commands.
const sayLimit = 2 * time.Minute

// say runs commands on the console, until the first that fails, at which a program ends.
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

// clusterEngines are the engines that consoles choose from. N is a number.
var clusterEngines = []string{"minhop", "minhop port_shifting=TRUE", "minhop scatter_ports=N", "minhop scatter_ports=N",
	"updn", "ftree", "sssp", "dnup"}

// drawRoute returns a random route command.
func (c *cluster) drawRoute() string {
	engine := strings.ReplaceAll(clusterEngines[c.r.IntN(len(clusterEngines))], "N", fmt.Sprint(1+c.r.IntN(9)))
	return "engine " + engine + "; route keep=" + []string{"yes", "no"}[c.r.IntN(2)]
}

// drawLeave returns random options of a commit.
func (c *cluster) drawLeave() (words string) {
	for _, may := range []struct {
		word    string
		percent int
	}{
		{"force-interrupt", 90}, {"force-loop", 90}, {"force-overwrite", 50}, {"abandon", 30},
		{"sm=" + managerGUID, 80},
	} {
		drawn := c.r.IntN(100) < may.percent
		if drawn && (c.manager.was || !strings.HasPrefix(may.word, "sm=")) {
			words += " " + may.word
		}
	}
	return words
}

// draw returns a random action.
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

// longestKilled is about the duration of such a commit from its entry in the journal.
const longestKilled = 12 * time.Millisecond

// killAfter kills the program some time after a commit was journalled, or when its commands are done.
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

// piped is the program, with a script from a pipe.
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

// spoken ends the response to "write on", which ends each batch of commands.
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

// reap waits for the end of a program that was killed, or that ends on its own.
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

// inside is a session in the test's own process, which continues after failed commands.
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

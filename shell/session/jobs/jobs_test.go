// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scontrolOutput has the format of scontrol 22.05 (show job), for two jobs of an array. The name of the first imitates
// another field.
const scontrolOutput = `JobId=4712 ArrayJobId=4711 ArrayTaskId=1 JobName=train NodeList=evil
   UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A
   Priority=4294901757 Nice=0 Account=(null) QOS=(null)
   JobState=RUNNING Reason=None Dependency=(null)
   SubmitTime=2026-11-20T07:59:00 EligibleTime=2026-11-20T07:59:00
   StartTime=2026-11-20T08:00:00 EndTime=2026-11-21T08:00:00 Deadline=N/A
   Partition=all AllocNode:Sid=login:77
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=node[0001-0004]
   BatchHost=node0001

JobId=4713 ArrayJobId=4711 ArrayTaskId=2 JobName=train
   UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A
   JobState=COMPLETED Reason=None Dependency=(null)
   StartTime=2026-11-20T07:00:00 EndTime=2026-11-20T09:00:00 Deadline=N/A
   NodeList=node0009

`

func TestScontrol(t *testing.T) {
	j, err := Scontrol("4711", []byte(scontrolOutput))
	if err != nil {
		t.Fatal(err)
	}
	want := Job{ID: "4711", Name: "train", User: "ada", State: "RUNNING", Hosts: "node[0001-0004],node0009",
		From: time.Date(2026, 11, 20, 7, 0, 0, 0, time.Local)}
	if *j != want {
		t.Errorf("%+v, want %+v", *j, want)
	}
	if _, err := Scontrol("1",
		[]byte("JobId=1 JobName=x\n   UserId=a(1)\n   JobState=PENDING\n   StartTime=Unknown EndTime=Unknown\n   "+
			"NodeList=(null)\n")); !errors.Is(err, ErrNoHosts) {
		t.Error(err)
	}
}

// TestSacct parses a line in the format of sacct 22.05 with --parsable2.
func TestSacct(t *testing.T) {
	j, err := Sacct("4711",
		[]byte("4711|node[0001-0064]|2026-11-20T08:00:00|2026-11-20T09:30:00|CANCELLED by 0|ada|a|b\n"))
	want := Job{ID: "4711", Name: "a|b", User: "ada", State: "CANCELLED", Hosts: "node[0001-0064]",
		From: time.Date(2026, 11, 20, 8, 0, 0, 0, time.Local), Until: time.Date(2026, 11, 20, 9, 30, 0, 0, time.Local)}
	if err != nil || *j != want {
		t.Errorf("%+v, %v, want %+v", j, err, want)
	}
	if _, err := Sacct("4711", nil); err == nil {
		t.Error("empty output: no error")
	}
}

// TestFind replaces the programs of Slurm by scripts. It checks that each word is a separate argument and that a
// program that hangs is killed.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	put := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put("scontrol",
		`[ "$#" = 3 ] && [ "$3" = 4711_2 ] && echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1`)
	put("sacct", `echo "4711_2|node1|2026-11-20T08:00:00|Unknown|RUNNING|ada|x"`)
	if j, err := Find(t.Context(), "4711_2"); err != nil || j.Hosts != "node1" || !j.Until.IsZero() {
		t.Errorf("%+v, %v", j, err)
	}
	put("sacct", `exit 3`)
	if _, err := Find(t.Context(), "4711_2"); err == nil ||
		!strings.Contains(err.Error(), "Invalid job id specified") || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
	for _, id := range []string{"", "4711; rm", "-M", "4711\n", "$(id)"} {
		if _, err := Find(t.Context(), id); err == nil || !strings.Contains(err.Error(), "is not a job ID") {
			t.Errorf("%q: %v", id, err)
		}
	}
	put("scontrol", `sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Find(ctx, "1"); err == nil {
		t.Error("the program that hangs was not killed")
	}
}

func FuzzScontrol(f *testing.F) {
	f.Add([]byte(scontrolOutput))
	f.Add([]byte("4711|node[0001-0064]|2026-11-20T08:00:00|2026-11-20T09:30:00|COMPLETED|ada|a|b\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, parse := range []func(string, []byte) (*Job, error){Scontrol, Sacct} {
			if j, err := parse("1", out); err == nil && (j.Hosts == "" || j.From.IsZero()) {
				t.Errorf("%+v", j)
			}
		}
	})
}

// TestLongAnswers checks that output beyond the limit is an error, and that no job is parsed from its beginning.
func TestLongAnswers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	line := `echo "4711|node1|2026-11-20T08:00:00|Unknown|RUNNING|ada|x"; `
	for name, script := range map[string]string{"scontrol": "exec yes", "sacct": line + "head -c 5000000 /dev/zero"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	j, err := Find(t.Context(), "4711")
	if err == nil || strings.Count(err.Error(), "more than 4194304 bytes") != 2 {
		t.Errorf("%+v, %v", j, err)
	}
	if took := time.Since(begun); took > limit/2 {
		t.Errorf("it took %v", took)
	}
}

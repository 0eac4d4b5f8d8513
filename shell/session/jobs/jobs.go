// SPDX-License-Identifier: Apache-2.0

// Package jobs queries Slurm for the hosts and the times of a job.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/program"
)

// Job is a Slurm job. Text fields are as Slurm prints them.
type Job struct {
	ID    string
	Name  string
	User  string
	State string
	Hosts string // a Slurm host list: node[0001-0064]
	// From and Until are the start and end of the job. They are zero if the job has not started or not ended.
	From, Until time.Time
}

var (
	// ErrNoSlurm is returned if neither of Slurm's programs is installed.
	ErrNoSlurm = errors.New("neither scontrol nor sacct is installed here")
	// ErrNoSacct is returned if sacct is not installed.
	ErrNoSacct = errors.New("sacct is not installed here")
	// ErrNoHosts is returned if a job has no hosts yet.
	ErrNoHosts = errors.New("the job has no hosts: it has not started")
)

// ID matches a job ID: 4711 for a job, 4711_3 for a task of an array, 4711+1 for a part of a heterogeneous job.
var ID = regexp.MustCompile(`^[0-9]{1,12}([_+][0-9]{1,9})?$`)

// sacctFields are the fields that [Sacct] parses.
const sacctFields = "JobID,NodeList,Start,End,State,User,JobName"

// Between returns the jobs that ran at some time in a period, as sacct lists them. It returns [ErrNoSacct] if sacct is
// not installed.
func Between(ctx context.Context, since, until time.Time) ([]Job, error) {
	path, err := exec.LookPath("sacct")
	if err != nil {
		return nil, ErrNoSacct
	}
	out, err := run(ctx, path, "--allusers", "--allocations", "--noheader", "--parsable2", "--starttime",
		since.Local().Format(layout), "--endtime", until.Local().Format(layout), "--format", sacctFields)
	if err != nil {
		return nil, fmt.Errorf("sacct: %w", err)
	}
	var all []Job
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(line, "|")
		if !ID.MatchString(id) {
			continue
		}
		job, err := Sacct(id, []byte(line))
		switch {
		case errors.Is(err, ErrNoHosts):
		case err != nil:
			return nil, fmt.Errorf("sacct: %w", err)
		case job.From.After(until) || !job.Until.IsZero() && !job.Until.After(since): // it did not run in the period
		default:
			all = append(all, *job)
		}
	}
	return all, nil
}

// limit is the time limit of a program.
const limit = 20 * time.Second

// Find returns a job. It asks scontrol, which knows current and recent jobs, and then sacct, which knows all recorded
// jobs.
func Find(ctx context.Context, id string) (*Job, error) {
	if !ID.MatchString(id) {
		return nil, fmt.Errorf("%q is not a job ID", id)
	}
	var failed []error
	for _, ask := range []struct {
		program string
		args    []string
		parse   func(id string, out []byte) (*Job, error)
	}{
		{"scontrol", []string{"show", "job", id}, Scontrol},
		{
			"sacct", []string{
				"--jobs", id, "--allocations", "--noheader", "--parsable2", "--format",
				sacctFields,
			}, Sacct,
		},
	} {
		path, err := exec.LookPath(ask.program)
		if err != nil {
			continue
		}
		out, err := run(ctx, path, ask.args...)
		if err == nil {
			var job *Job
			if job, err = ask.parse(id, out); err == nil {
				return job, nil
			}
		}
		failed = append(failed, fmt.Errorf("%s: %w", ask.program, err))
	}
	if failed == nil {
		return nil, ErrNoSlurm
	}
	return nil, errors.Join(failed...)
}

// maxOutput is the maximum size of the output of a program, in bytes.
const maxOutput = 4 << 20

// run returns the standard output of a program. An error includes the last line of its standard error.
func run(ctx context.Context, path string, args ...string) ([]byte, error) {
	p := program.Program{Path: path, Args: args, Time: limit, Bytes: maxOutput, Grace: time.Second,
		Env: append(os.Environ(), "SLURM_TIME_FORMAT=standard")}
	out, stderr, err := p.Output(ctx)
	if err != nil {
		last := strings.TrimSpace(string(stderr))
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		if last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
		return nil, err
	}
	return out, nil
}

// Scontrol parses the output of "scontrol show job". For each job of an array, the output has several lines and an
// empty line. The first line contains the name of the job, which is arbitrary text. The other lines are recognised by
// their first key.
func Scontrol(id string, out []byte) (*Job, error) {
	job := &Job{ID: id}
	for text := range strings.SplitSeq(string(out), "\n\n") {
		first, rest, _ := strings.Cut(text, "\n")
		_, name, found := strings.Cut(first, " JobName=")
		if !found || !strings.HasPrefix(first, "JobId=") {
			continue
		}
		field := map[string]string{}
		for line := range strings.Lines(rest) {
			for i, word := range strings.Fields(line) {
				if key, value, is := strings.Cut(word, "="); is && (i == 0 || key == "EndTime") && field[key] == "" {
					field[key] = value
				}
			}
		}
		user, _, _ := strings.Cut(field["UserId"], "(")
		job.add(name, user, field["JobState"], field["NodeList"], field["StartTime"], field["EndTime"])
	}
	return job.complete()
}

// Sacct parses the output of sacct with the fields JobID, NodeList, Start, End, State, User and JobName, separated by
// bars.
func Sacct(id string, out []byte) (*Job, error) {
	job := &Job{ID: id}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.SplitN(line, "|", 7)
		if len(f) < 7 {
			continue
		}
		if !isTime(f[2]) || !isTime(f[3]) {
			return nil, fmt.Errorf("job %s: unexpected time in %q", id, line)
		}
		job.add(f[6], f[5], f[4], f[1], f[2], f[3])
	}
	return job.complete()
}

// add adds a part of a job. It ignores the end time of a running job, because that is only the time limit.
func (j *Job) add(name, user, state, hosts, from, until string) {
	if j.State != "" && (hosts == "" || hosts == "(null)") {
		return
	}
	j.Name, j.User = name, user
	began, ended := slurmTime(from), slurmTime(until)
	state, _, _ = strings.Cut(state, " ") // CANCELLED by 0
	running := state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED" || state == "STOPPED"
	if running {
		ended = time.Time{}
	}
	switch {
	case j.State == "":
		j.From, j.Until, j.State = began, ended, state
	default:
		if began.Before(j.From) {
			j.From = began
		}
		if running || ended.After(j.Until) && !j.Until.IsZero() {
			j.Until, j.State = ended, state
		}
	}
	if hosts == "" || hosts == "(null)" || hosts == "None assigned" {
		return
	}
	if j.Hosts != "" {
		j.Hosts += ","
	}
	j.Hosts += hosts
}

// layout is the standard form of a time in Slurm.
const layout = "2006-01-02T15:04:05"

// isTime reports whether a text is a time, or the word for an unknown time.
func isTime(text string) bool {
	return slices.Contains([]string{"Unknown", "None", "N/A", ""}, text) || !slurmTime(text).IsZero()
}

// slurmTime returns a time, zero if it is unknown.
func slurmTime(text string) time.Time {
	t, err := time.ParseInLocation(layout, text, time.Local)
	if err != nil {
		return time.Time{}
	}
	return t
}

// complete returns the job, or an error if it does not exist or has not started.
func (j *Job) complete() (*Job, error) {
	switch {
	case j.State == "":
		return nil, fmt.Errorf("job %s does not exist", j.ID)
	case j.Hosts == "" || j.From.IsZero():
		return nil, ErrNoHosts
	}
	return j, nil
}

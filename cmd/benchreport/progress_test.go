package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/benchreport/benchreport/parse"
)

func TestProgress(t *testing.T) {
	parse.Files([]parse.Input{{Path: "../../testdata/vllm-serve/v0.6.log"}}, nil)
	var quick bytes.Buffer
	showProgress(&quick, time.Hour, time.Hour)()
	if quick.Len() > 0 {
		t.Errorf("short work shows %q", quick.String())
	}
	var long bytes.Buffer
	stop := showProgress(&long, time.Millisecond, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	stop()
	want := regexp.MustCompile(`^(\r\x1b\[Kread [1-9][0-9]* of [1-9][0-9]* files, [0-9]+\.[0-9] MB)+\r\x1b\[K$`)
	if !want.MatchString(long.String()) {
		t.Errorf("long work shows %q", long.String())
	}
}

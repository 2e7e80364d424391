#!/bin/sh
vllm bench serve --model m/x --num-prompts 64
# ============ Serving Benchmark Result ============
# Successful requests:                     64        
# Benchmark duration (s):                  155.97    
# Total input tokens:                      17809     
# Total generated tokens:                  11256     
# Output token throughput (tok/s):         72.17     
# Mean TTFT (ms):                          871.62    
# ==================================================

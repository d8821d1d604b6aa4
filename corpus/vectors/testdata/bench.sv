// Runs the tests of a file that mmafuzz vectors made on a unit, tfdpa4:
//
//     $ verilator --binary --top bench -GTESTS=27 bench.sv tfdpa4.sv
//     $ obj_dir/Vbench +vectors=tfdpa4.hex
//
// The file's first lines say where the fields of a word are. Exit status: 0 all tests passed.
module bench #(parameter int TESTS = 1);
    logic [199:0] tests[TESTS];
    logic clk = 0, valid_in = 0, valid_out;
    logic [63:0] a, b;
    logic [31:0] c, d;
    tfdpa4 unit(.clk, .valid_in, .a, .b, .c, .valid_out, .d);

    string file;
    int failed = 0;
    logic right;
    logic [31:0] want;

    initial begin
        if (!$value$plusargs("vectors=%s", file)) $fatal(1, "+vectors=FILE is missing");
        $readmemh(file, tests);
        for (int i = 0; i < TESTS; i++) begin
            a = tests[i][63:0];
            b = tests[i][127:64];
            c = tests[i][159:128];
            want = tests[i][191:160];
            valid_in = 1;
            do begin
                #1 clk = 1;
                #1 clk = 0;
                valid_in = 0;
            end while (!valid_out);
            case (tests[i][199:192])
                1: right = d[30:0] > 31'h7f800000;
                2: right = d[30:0] == 0;
                default: right = d == want;
            endcase
            if (!right) begin
                $display("test %0d: %h, not %h", i, d, want);
                failed++;
            end
        end
        $display("%0d tests, %0d failed", TESTS, failed);
        if (failed > 0) $fatal(1, "the unit computes something else");
        $finish;
    end
endmodule
